import { expect, test } from 'vitest';

import { linesOfText } from './text';
import { lineAt, topsOf, wrapped } from './wrap';

function rowsOf(text: string, columns: number): string[] {
  const [line] = linesOfText(text);
  const { rows, indent } = wrapped(line?.words ?? [], columns);
  return rows.map((row, at) => (at === 0 ? '' : '.'.repeat(indent)) + row.map(({ text }) => text).join(''));
}

test('a line that fits is one row', () => {
  expect(rowsOf('  return sum', 12)).toEqual(['  return sum']);
  expect(rowsOf('', 12)).toEqual(['']);
});

test('a longer one is cut between words, and its rows begin deeper', () => {
  expect(rowsOf('  sum#n3 = add.i64 (mul.i64 price, count), 5', 24)).toEqual([
    '  sum = add.i64 (mul.i64 ',
    '......price, count), 5',
  ]);
  expect(rowsOf('  a = call f(price, count)', 19)).toEqual(['  a = call f(price, ', '......count)']);
  expect(rowsOf('  a = call f(price, count)', 18)).toEqual(['  a = call ', '......f(price, ', '......count)']);
  expect(rowsOf('; What things cost together, and why.', 16)).toEqual([
    '; What things ',
    '....cost ',
    '....together, ',
    '....and why.',
  ]);
});

test('what is longer than a row is cut where the row ends, and nothing is lost', () => {
  const text = `  const.string "${'a'.repeat(30)}"`;
  const rows = rowsOf(text, 20);
  expect(rows.every((row) => row.length <= 20)).toBe(true);
  expect(rows.map((row, at) => (at === 0 ? row : row.replace(/^\.+/, ''))).join('')).toBe(text);
  // Where there is no room at all, it still ends.
  expect(
    rowsOf('ab', 1)
      .map((row) => row.replaceAll('.', ''))
      .join(''),
  ).toBe('ab');
});

test('each piece knows what it stands for', () => {
  const [line] = linesOfText('  total#n3 = add.i64#n3 price, 5#n4');
  const { rows } = wrapped(line?.words ?? [], 16);
  expect(
    rows
      .flat()
      .filter(({ ref }) => ref !== null)
      .map(({ text, ref }) => `${text}:${ref}`),
  ).toEqual(['total:n3', 'add.i64:n3', '5:n4']);
});

test('lines are found by their rows', () => {
  const line = (rows: number) => ({ rows: Array.from({ length: rows }, () => []), indent: 0 });
  const tops = topsOf([line(1), line(3), line(1)]);
  expect(tops).toEqual([0, 1, 4, 5]);
  expect([0, 1, 3, 4, 5, 9].map((row) => lineAt(tops, row))).toEqual([0, 1, 1, 2, 2, 2]);
  expect(lineAt([0], 3)).toBe(0);
});
