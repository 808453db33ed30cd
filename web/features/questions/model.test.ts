import { expect, test } from 'vitest';

import { after, announcement, EMPTY } from './model';

test('the runs of what happened are told once each, a gap tells of all', () => {
  const some = after(EMPTY, {
    type: 'happened',
    events: [
      { runId: 'a', kind: 'INTERRUPTED' },
      { runId: 'b', kind: 'ANSWERED' },
      { runId: 'a', kind: 'FINISHED' },
    ],
  });
  expect(some.changed).toEqual({ turn: 1, runs: ['a', 'b'] });
  expect(after(some, { type: 'happened', events: [{ runId: 'a', kind: 'GAP' }] }).changed).toEqual({
    turn: 2,
    runs: null,
  });
  const lost = after(some, { type: 'status', live: 'reconnecting' });
  expect([lost.live, lost.changed]).toEqual(['reconnecting', some.changed]);
  expect(after(lost, { type: 'status', live: 'connected' }).changed).toEqual({ turn: 2, runs: null });
});

test('the same number is no change', () => {
  const three = after(EMPTY, { type: 'counted', open: 3 });
  expect(three.open).toBe(3);
  expect(after(three, { type: 'counted', open: 3 })).toBe(three);
});

test('only new questions are announced', () => {
  expect(announcement(null, 4)).toBe('');
  expect(announcement(4, 3)).toBe('');
  expect(announcement(0, 1)).toBe('A new question waits for an answer. One is open.');
  expect(announcement(1, 3)).toBe('2 new questions wait for an answer. 3 are open.');
});
