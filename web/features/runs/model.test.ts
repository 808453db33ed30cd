import { expect, test } from 'vitest';

import { errorOf, isOver, merged, shortId, STATUSES, toReread, type Filter, type Run } from './model';

function run(id: string, minute: number, more: Partial<Run> = {}): Run {
  return {
    id,
    status: 'RUNNING',
    node: null,
    createdAt: new Date(minute * 60_000).toISOString(),
    endedAt: null,
    deadline: null,
    flow: { name: 'review', version: '1' },
    session: { id: 'S', title: null },
    program: null,
    input: {},
    progress: null,
    startedBy: { name: 'ann', kind: 'HUMAN' },
    ...more,
  };
}
const ALL: Filter = { flow: null, status: null, session: null };
const ids = (runs: readonly Run[]) => runs.map(({ id, status }) => `${id} ${STATUSES[status].word}`);
const news = (...runs: Run[]) => new Map<string, Run | null>(runs.map((each) => [each.id, each]));

test('what is new stands first, what has changed in its place, what is gone nowhere', () => {
  const loaded = [run('c', 3), run('b', 2), run('a', 1)];
  const fresh = new Map([...news(run('d', 4), run('b', 2, { status: 'WAITING' })), ['a', null] as const]);
  expect(ids(merged(loaded, fresh, ALL))).toEqual(['d running', 'c running', 'b waiting']);
});

test('what the filter does not let through any more leaves', () => {
  const loaded = [run('b', 2), run('a', 1)];
  const fresh = news(run('b', 2, { status: 'COMPLETED' }), run('c', 3, { flow: { name: 'other', version: '1' } }));
  expect(ids(merged(loaded, fresh, { flow: 'review', status: 'RUNNING', session: null }))).toEqual(['a running']);
});

test('a run that is older than all that are loaded comes with its page', () => {
  expect(ids(merged([run('c', 3)], news(run('a', 1)), ALL))).toEqual(['c running']);
  expect(ids(merged([], news(run('a', 1)), ALL))).toEqual(['a running']);
});

test('runs are asked for one by one, after a gap or for many the list is', () => {
  const events = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ runId: `r${at}`, kind: 'STARTED' as const }));
  expect(toReread([...events(2), ...events(2)])).toEqual(['r0', 'r1']);
  expect(toReread(events(50))).toBe('all');
  expect(toReread([{ runId: '', kind: 'GAP' }])).toBe('all');
});

test('why a run failed is told also where it has another form', () => {
  expect(errorOf({ code: 'TIMEOUT', message: 'too slow', node: 'a', attempt: 2 })).toEqual({
    code: 'TIMEOUT',
    message: 'too slow',
    node: 'a',
    attempt: 2,
  });
  expect(errorOf('broken')?.message).toBe('broken');
  expect(errorOf({ what: 1 })?.message).toBe('{"what":1}');
  expect(errorOf(null)).toBe(null);
});

test('runs that wait or run go on', () => {
  expect(['RUNNING', 'WAITING', 'COMPLETED', 'SUPERSEDED'].map((status) => isOver(status as Run['status']))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test('long ids are told by their end', () => {
  expect([shortId('R-1'), shortId('0199c0de-0001-7000-8000-0123456789ab')]).toEqual(['R-1', '…456789ab']);
});
