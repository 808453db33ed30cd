import { expect, test } from 'vitest';

import { canRename, labelOf, renameOf, whyNot, type Outcome, type Tried } from './model';

test('a node gets another name by an edit of its own, a function by another', () => {
  expect(renameOf('node', 'n7', 'sum', ' total ', 4)).toEqual({
    edits: [{ renameNode: { ref: 'n7', name: 'total' } }],
    baseRevision: 'r4',
  });
  expect(renameOf('function', 'f2', 'cost', 'price', null)).toEqual({
    edits: [{ renameFunction: { ref: 'f2', name: 'price' } }],
    baseRevision: null,
  });
});

test('the name that is there, or none, is no other name', () => {
  expect([renameOf('node', 'n7', 'sum', ' sum ', 4), renameOf('node', 'n7', '', '  ', 4)]).toEqual([null, null]);
});

test('the name of a node stands before its ref, where it is made', () => {
  const text = 'func f#f1 (a: i64) -> (i64) {\n  sum#n7 = add.i64 a, 1#n8\n  return#n9 (mul.i64#n10 sum, a)\n}';
  expect([labelOf(text, 'n7'), labelOf(text, 'n8'), labelOf(text, 'n10'), labelOf(text, 'n99')]).toEqual([
    'sum',
    '',
    '',
    '',
  ]);
});

test('what cannot be applied says why', () => {
  const done = (outcome: unknown): Tried => ({ state: 'done', outcome: outcome as Outcome });
  const applied = (modified: number) =>
    done({ __typename: 'EditApplied', changed: { added: 0, modified, removed: 0 } });
  const why = (tried: Tried, more = {}) => whyNot({ dirty: true, stale: false, applying: false, tried, ...more });
  expect(why({ state: 'idle' }, { dirty: false })).toBe('Nothing is changed yet.');
  expect(why({ state: 'trying', last: null })).toBe('It is being tried.');
  expect(why(done({ __typename: 'EditRejected', errors: [{}], suppressed: 0 }))).toBe('1 mistake is left.');
  expect(why(done({ __typename: 'EditRejected', errors: [{}], suppressed: 2 }))).toBe('3 mistakes are left.');
  expect(why(applied(0))).toBe('The text says what is there already.');
  expect(why(applied(1))).toBe(null);
  expect(why(applied(1), { stale: true })).toMatch(/changed meanwhile/);
  expect(why(applied(1), { applying: true })).toBe('It is being applied.');
});

test('another name can be given once it was tried as it is typed, and brings no errors', () => {
  const applied = (severities: string[]) =>
    ({
      state: 'done',
      outcome: { __typename: 'EditApplied', diagnosticsAdded: severities.map((severity) => ({ severity })) },
    }) as unknown as Tried;
  const rejected = { state: 'done', outcome: { __typename: 'EditRejected', errors: [] } } as unknown as Tried;
  const last = (applied([]) as Extract<Tried, { state: 'done' }>).outcome;
  expect([canRename(applied([]), false), canRename(applied(['WARNING']), false)]).toEqual([true, true]);
  expect(
    [applied(['ERROR']), rejected, { state: 'trying', last } as Tried].map((tried) => canRename(tried, false)),
  ).toEqual([false, false, false]);
  expect(canRename(applied([]), true)).toBe(false);
});
