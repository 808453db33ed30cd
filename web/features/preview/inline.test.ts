import { expect, test } from 'vitest';

import { changedWithin, compared, type Piece } from './inline';
import { fileOf } from './unified';

const marked = (pieces: readonly Piece[] | undefined) =>
  pieces?.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('');
const both = (was: string, is: string) => compared(was, is)?.map(marked) ?? null;

test('what changed in a line is told word by word', () => {
  expect(both('  yield (add.i64 sum, 5)', '  yield (add.i64 sum, 7)')).toEqual([
    '  yield (add.i64 sum, [5])',
    '  yield (add.i64 sum, [7])',
  ]);
  expect(both('  cheap = lt_s.i64 sum, 100', '  cheap = le_s.i64 sum, 100')).toEqual([
    '  cheap = [lt_s.i64] sum, 100',
    '  cheap = [le_s.i64] sum, 100',
  ]);
  expect(both('func f (a: i64)', 'func f (a: i64, b: i64)')).toEqual(['func f (a: i64)', 'func f (a: i64[, b: i64])']);
});

test('words that changed side by side are marked as one', () => {
  expect(both('  ; What it costs in all, with a fee.', '  ; What it costs at the end, with a fee.')).toEqual([
    '  ; What it costs [in all], with a fee.',
    '  ; What it costs [at the end], with a fee.',
  ]);
});

test('the words of a text are words', () => {
  expect(both('require "it is new"#n1', 'require "it is quite new"#n2')).toEqual([
    'require "it is new"#n1',
    'require "it is [quite] new"#n2',
  ]);
});

test('another ref alone is no change that is marked', () => {
  expect(both('  x#n4 = add.i64 a, 1#n5', '  x#n4 = add.i64 a, 1#n9')).toEqual([
    '  x#n4 = add.i64 a, 1#n5',
    '  x#n4 = add.i64 a, 1#n9',
  ]);
});

test('lines that have little in common are two lines', () => {
  expect(both('  return total', '  yield (add.i64 sum, 7)')).toBeNull();
});

test('each line that goes is compared with the one in its place', () => {
  const { lines } = fileOf('f', 'a = one 1\nb = two 2\nend', 'a = one 3\nb = two 4\nc = three\nend');
  const found = changedWithin(lines);
  expect(lines.map(({ kind }, at) => `${kind} ${marked(found.get(at)) ?? '-'}`)).toEqual([
    'removed a = one [1]',
    'removed b = two [2]',
    'added a = one [3]',
    'added b = two [4]',
    'added -',
    'same -',
  ]);
});
