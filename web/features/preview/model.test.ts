import { expect, test } from 'vitest';

import { conflictsByRef, isStale, without, type Conflict, type Finding } from './model';

const finding = (code: string, node: string | null) => ({ code, message: code, details: { node } }) as Finding;
const conflict = (ref: string, kind: string) => ({ ref, kind }) as Conflict;

test('findings are told apart by what they say and where', () => {
  const [a, b, c] = [finding('A', 'n1'), finding('A', 'n2'), finding('B', 'n1')];
  expect(without([a, b, c], [{ ...b }])).toEqual([a, c]);
});

test('what collides at one entity stands together', () => {
  const conflicts = [conflict('n1', 'BOTH_EDITED'), conflict('f2', 'NAME_TAKEN'), conflict('n1', 'BOTH_MOVED')];
  expect(conflictsByRef(conflicts).map(([ref, all]) => [ref, all.length])).toEqual([
    ['n1', 2],
    ['f2', 1],
  ]);
});

test('a preview is stale once the head has moved on', () => {
  expect([isStale(7, 8), isStale(7, 7), isStale(7, null), isStale(null, 8)]).toEqual([true, false, false, false]);
});
