import { expect, test } from 'vitest';

import { keepDraft, keptDraft, offsetAt, placeAt, readDraft } from './draft';

const base = { revision: 3, hash: 'h', text: 'func f () -> ()' };

test('a draft is kept until it says what was there', () => {
  keepDraft('p', 'f1', { text: 'more', base });
  expect(keptDraft('p', 'f1')).toEqual({ text: 'more', base });
  keepDraft('p', 'f1', { text: base.text, base });
  expect(keptDraft('p', 'f1')).toBe(null);
});

test('what is malformed is no draft', () => {
  for (const text of [null, '', '{', '5', '{"text":1}', '{"text":"a","base":{"hash":1}}'])
    expect(readDraft(text)).toBe(null);
});

test('places are found both ways', () => {
  const text = 'ab\ncd\n';
  expect([offsetAt(text, 1, 1), offsetAt(text, 2, 2), offsetAt(text, 2, 99), offsetAt(text, 9, 1)]).toEqual([
    0, 4, 5, 6,
  ]);
  expect([placeAt(text, 0), placeAt(text, 4), placeAt(text, 6)]).toEqual([
    { line: 1, column: 1 },
    { line: 2, column: 2 },
    { line: 3, column: 1 },
  ]);
});
