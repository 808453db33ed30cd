import { expect, test } from 'vitest';

import { isStale, without, type Finding } from './model';

const finding = (code: string, node: string | null) => ({ code, message: code, details: { node } }) as Finding;

test('findings are told apart by what they say and where', () => {
  const [a, b, c] = [finding('A', 'n1'), finding('A', 'n2'), finding('B', 'n1')];
  expect(without([a, b, c], [{ ...b }])).toEqual([a, c]);
});

test('a preview is stale once the head has moved on', () => {
  expect([isStale(7, 8), isStale(7, 7), isStale(7, null), isStale(null, 8)]).toEqual([true, false, false, false]);
});
