import { expect, test } from 'vitest';

import { addOf, canRename, marksOf, mistakesOf, renameOf, whyNot, type Outcome, type Tried } from './model';

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

test('what is written is added where it is said, or where it says itself', () => {
  expect([addOf(' \n', 'm', 3), addOf('type P = i64', 'm', 3), addOf('module m', '', null)]).toEqual([
    null,
    { edits: [{ addText: { text: 'type P = i64', module: 'm' } }], baseRevision: 'r3' },
    { edits: [{ addText: { text: 'module m' } }], baseRevision: null },
  ]);
});

test('mistakes stay marked until what is written is tried again', () => {
  const wrong = { line: 2, column: 5, found: 'let' };
  const outcome = { __typename: 'EditRejected', errors: [wrong, { ...wrong, line: null }] } as unknown as Outcome;
  const marks = [{ line: 2, column: 5, length: 3 }];
  const tries: Tried[] = [{ state: 'done', outcome }, { state: 'trying', last: outcome }, { state: 'idle' }];
  expect(tries.map((tried) => marksOf(mistakesOf(tried)))).toEqual([marks, marks, []]);
});
