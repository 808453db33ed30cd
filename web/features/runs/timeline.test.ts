import { expect, test } from 'vitest';

import type { Span } from './spans';
import {
  asksOf,
  forkWords,
  rowsOf,
  scaleOf,
  spansByStep,
  stepState,
  supersededOf,
  waitedIn,
  type Asked,
  type Row,
  type Step,
} from './timeline';

const SECOND = 1_000;
const HOUR = 3_600_000;
const iso = (at: number) => new Date(at).toISOString();

function step(index: number, node: string, from: number, to: number | null, more: Partial<Step> = {}): Step {
  return {
    index,
    node,
    branch: '',
    attempt: 1,
    startedAt: iso(from),
    endedAt: to === null ? null : iso(to),
    latencyMs: to === null ? null : to - from,
    update: null,
    goto: null,
    error: null,
    receipts: 0,
    revision: null,
    ...more,
  };
}

function span(id: string, kind: string, name: string, from: number, more: Partial<Span> = {}): Span {
  return {
    id,
    parentId: null,
    kind,
    name,
    startedAt: iso(from),
    endedAt: iso(from + SECOND),
    ok: true,
    attempt: 1,
    attributes: {},
    ...more,
  };
}

function told(steps: Step[], more: Partial<Parameters<typeof rowsOf>[0]> = {}, failedOnly = false) {
  const rows = rowsOf({ steps, spans: [], asked: [], waiting: false, cut: false, now: 10 * HOUR, ...more }, failedOnly);
  return rows.map((row: Row) =>
    row.type === 'step' ? row.step.node : `${row.what} ${(row.to - row.from) / HOUR} h${row.open ? ' so far' : ''}`,
  );
}

const asked = (from: number, to: number | null): Asked => ({
  askedAt: iso(from),
  decision: to === null ? null : { at: iso(to) },
});

test('a time in which nothing happened is folded, and says whether an answer was waited for', () => {
  const steps = [step(0, 'ask', 0, SECOND), step(1, 'commit', SECOND + 3 * HOUR, SECOND + 3 * HOUR + 1)];
  expect(told(steps)).toEqual(['ask', 'idle 3 h', 'commit']);
  expect(told(steps, { asked: [asked(500, 3 * HOUR)] })).toEqual(['ask', 'answer 3 h', 'commit']);
  // A question that was open for a moment only explains nothing.
  expect(told(steps, { asked: [asked(500, 60 * SECOND)] })).toEqual(['ask', 'idle 3 h', 'commit']);
});

test('short times and parallel steps are no gap', () => {
  const steps = [
    step(0, 'a', 0, 2 * HOUR, { branch: '0' }),
    step(1, 'b', SECOND, 2 * SECOND, { branch: '1' }),
    step(2, 'c', 2 * HOUR + SECOND, 2 * HOUR + 2 * SECOND),
  ];
  expect(told(steps)).toEqual(['a', 'b', 'c']);
});

test('a run that waits says for how long, unless later steps are not loaded', () => {
  const steps = [step(0, 'ask', 0, HOUR)];
  expect(told(steps, { waiting: true, asked: [asked(HOUR, null)] })).toEqual(['ask', 'answer 9 h so far']);
  expect(told(steps, { waiting: true, cut: true })).toEqual(['ask']);
  expect(told([step(0, 'work', 0, null)], { waiting: true })).toEqual(['work']);
});

test('only what failed, without gaps', () => {
  const steps = [
    step(0, 'a', 0, 1),
    step(1, 'b', HOUR, HOUR + 1, { error: { code: 'X' } }),
    step(2, 'c', 3 * HOUR, null),
  ];
  expect(told(steps, {}, true)).toEqual(['b']);
});

test('a step has failed, is done, waits or runs', () => {
  expect([
    stepState(step(0, 'a', 0, 1, { error: { code: 'X' } }), false),
    stepState(step(0, 'a', 0, 1), true),
    stepState(step(0, 'a', 0, null), true),
    stepState(step(0, 'a', 0, null), false),
  ]).toEqual(['failed', 'done', 'waiting', 'running']);
});

test('a step that waited says how long', () => {
  expect(waitedIn(step(0, 'ask', 0, 3 * HOUR), [asked(HOUR, 2 * HOUR)], 9 * HOUR)).toBe(HOUR);
  expect(waitedIn(step(0, 'ask', 0, null), [asked(HOUR, null)], 3 * HOUR)).toBe(2 * HOUR);
  // What goes on beside a question that is open does not wait for it.
  expect(waitedIn(step(0, 'work', HOUR, 2 * HOUR), [asked(0, 3 * HOUR)], 9 * HOUR)).toBe(0);
});

test('each attempt has the spans that began with it, with all that is within', () => {
  const steps = [step(0, 'verify', 0, SECOND), step(2, 'verify', 10 * SECOND, 11 * SECOND)];
  const spans = [
    span('late', 'node', 'verify', 10 * SECOND + 5),
    span('early', 'node', 'verify', 3),
    span('model', 'model', 'chat', 100, { parentId: 'early' }),
    span('retry', 'retry', 'again', 200, { parentId: 'model' }),
    span('other', 'node', 'verify', 0, { attempt: 2 }),
  ];
  const found = spansByStep(steps, spans);
  const told = (key: string) => found.get(key)?.map(({ span, depth }) => `${span.id} ${depth}`);
  expect(told('0  1')).toEqual(['early 0', 'model 1', 'retry 2']);
  expect(told('2  1')).toEqual(['late 0']);
});

test('folded times and waits take no room on the line of time', () => {
  const steps = [step(0, 'a', 0, SECOND), step(1, 'b', HOUR, HOUR + 3 * SECOND)];
  const scale = scaleOf(steps, [], 9 * HOUR);
  expect([0, SECOND, HOUR / 2, HOUR, HOUR + 3 * SECOND, 9 * HOUR].map((at) => scale.at(at))).toEqual([
    0, 0.25, 0.25, 0.25, 1, 1,
  ]);
  const waiting = [step(0, 'a', 0, SECOND), step(1, 'ask', SECOND, null)];
  const cut = scaleOf(waiting, [asked(2 * SECOND, null)], 9 * HOUR);
  expect([cut.at(SECOND), cut.at(9 * HOUR)]).toEqual([0.5, 1]);
  expect(scaleOf([], [], 0).at(5)).toBe(0);
});

test('what a rewind has taken back is told apart from what came after it', () => {
  const steps = [step(2, 'a', 0, 1), step(4, 'b', 2, 3), step(6, 'c', 4, 5), step(9, 'b', 20, 21)];
  const rewound = span('r', 'decision', 'rewound', 10, { attributes: { 'lmlang.to': 2 } });
  expect([...supersededOf(steps, [rewound])]).toEqual(['4  1', '6  1']);
  expect(supersededOf(steps, [span('c', 'decision', 'cancelled', 10)]).size).toBe(0);
});

test('a step whose question is open waits', () => {
  const questions = [
    { id: 'R-1/5', status: 'ANSWERED' },
    { id: 'R-1/12', status: 'OPEN' },
  ] as const;
  expect([...asksOf(questions)]).toEqual([12]);
});

test('a fork says what it goes on with', () => {
  expect(forkWords({ goto: 'ask' })).toBe('goes on with `ask`');
  expect(forkWords({ goto: 'left, right' })).toBe('goes on with `left` and `right`');
  expect(forkWords({ goto: null })).toBe('goes on from there');
  expect(forkWords({ goto: 'END' })).toMatch(/nothing left to do/);
});
