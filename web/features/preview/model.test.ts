import { expect, test } from 'vitest';

import { isSame, isStale, isVoid, without, type Finding } from './model';

const finding = (code: string, node: string | null) => ({ code, message: code, details: { node } }) as Finding;

test('findings are told apart by what they say and where', () => {
  const [a, b, c] = [finding('A', 'n1'), finding('A', 'n2'), finding('B', 'n1')];
  expect(without([a, b, c], [{ ...b }])).toEqual([a, c]);
});

test('a preview is stale once the head has moved on', () => {
  expect([isStale(7, 8), isStale(7, 7), isStale(7, null), isStale(null, 8)]).toEqual([true, false, false, false]);
});

test('a change that changes nothing, or is refused, is none', () => {
  const changed = { added: 0, removed: 0, modified: 0, functions: 0 };
  expect([isSame({ changed }), isSame({ changed: { ...changed, modified: 1 } })]).toEqual([true, false]);
  expect([isVoid({ state: 'nothing', reason: '' }), isVoid({ state: 'rejected', errors: [] })]).toEqual([true, true]);
  expect(isVoid({ state: 'conflict', base: null, head: null, conflicts: [] })).toBe(false);
});
