import { expect, test } from 'vitest';

import { diffLines, hunks } from './diff';

const signs = { same: ' ', added: '+', removed: '-' };
const told = (before: string, after: string) => diffLines(before, after).map(({ kind, text }) => signs[kind] + text);

test('lines that stay, come and go', () => {
  expect(told('a\nb\nc\nd', 'a\nc\nx\nd')).toEqual([' a', '-b', ' c', '+x', ' d']);
  expect(told('a', 'a')).toEqual([' a']);
  expect(told('a\na', 'a\na\na')).toEqual([' a', ' a', '+a']);
});

test('numbers are those of the text that has the line', () => {
  expect(diffLines('a\nb', 'x\na\nc').map(({ before, after }) => [before, after])).toEqual([
    [null, 1],
    [1, 2],
    [2, null],
    [null, 3],
  ]);
});

test('what is far from every change is left out', () => {
  const before = Array.from({ length: 40 }, (_, at) => `line ${at}`);
  const after = before.with(20, 'other').join('\n');
  const shown = hunks(diffLines(before.join('\n'), after), 1);
  expect(shown.map((line) => line && signs[line.kind] + line.text)).toEqual([
    ' line 19',
    '-line 20',
    '+other',
    ' line 21',
  ]);
  expect(hunks(diffLines('a', 'a'), 3)).toEqual([]);
});
