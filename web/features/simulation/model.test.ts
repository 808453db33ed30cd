import { expect, test } from 'vitest';

import { choice } from '../function/testing';
import {
  extentAfter,
  inputOf,
  marksOf,
  pace,
  possible,
  queued,
  short,
  SPEEDS,
  spokenState,
  stepSlip,
  stepTyped,
  toggled,
  type Breakpoint,
  type Order,
  type State,
} from './model';
import { pageAround } from './Steps';

const at = (node: string) => ({ frame: 0, function: 'f1', node, region: 'g1', text: `${node} = neg.i64 x\n` });
const stop = (more: Partial<Breakpoint>): Breakpoint => ({
  node: null,
  function: null,
  watch: null,
  condition: null,
  hits: 0,
  here: false,
  message: null,
  ...more,
});

function state(more: Partial<State> = {}): State {
  return {
    id: 'S-1',
    status: 'PAUSED',
    position: 5,
    program: { programId: 'p', name: 'p', revision: { number: 1 } },
    function: { ref: 'f1', path: 'm::f' },
    at: at('n2'),
    stack: [at('n2')],
    locals: [],
    breakpoints: [],
    result: null,
    ...more,
  };
}

test('what waits is added up, and breakpoints are never lost', () => {
  const orders: Order[] = [
    { action: 'STEP' },
    { action: 'STEP' },
    { action: 'SET_BREAKPOINTS', breakpoints: [{ node: 'n1' }] },
    { action: 'SEEK', seekTo: 5 },
    { action: 'SEEK', seekTo: 9 },
    { action: 'STEP_BACK', steps: 3 },
  ];
  expect(orders.reduce<Order[]>((waiting, order) => queued(waiting, order), [])).toEqual([
    { action: 'STEP', steps: 2 },
    { action: 'SET_BREAKPOINTS', breakpoints: [{ node: 'n1' }] },
    { action: 'SEEK', seekTo: 9 },
    { action: 'STEP_BACK', steps: 3 },
  ]);
});

test('what can be done follows from how it stands', () => {
  expect(possible('READY', 0)).toMatchObject({ forward: true, back: false, pause: false });
  expect(possible('TRAPPED', 7)).toMatchObject({ forward: false, back: true });
  expect(possible('RUNNING', 7)).toEqual({ forward: false, back: false, pause: true, cancel: true });
  expect(possible('CANCELLED', 7)).toEqual({ forward: false, back: false, pause: false, cancel: false });
});

test('the length is what was seen until an end was', () => {
  const seen = extentAfter({ steps: 0, final: false }, { status: 'PAUSED', position: 40 });
  expect(extentAfter(seen, { status: 'PAUSED', position: 10 })).toEqual({ steps: 40, final: false });
  const whole = extentAfter(seen, { status: 'COMPLETED', position: 66 });
  expect(extentAfter(whole, { status: 'PAUSED', position: 3 })).toEqual({ steps: 66, final: true });
});

test('a breakpoint is set and taken away; others stay as they are', () => {
  const watch = stop({ watch: 'v3', condition: 'gt_s.i64 x, 1' });
  expect(toggled([watch], 'n2')).toEqual([{ watch: 'v3', condition: 'gt_s.i64 x, 1' }, { node: 'n2' }]);
  expect(toggled([watch, stop({ node: 'n2', condition: 'true' })], 'n2')).toEqual([inputOf(watch)]);
});

test('marks say where it stands, what is known and where it stops', () => {
  const locals = [
    { node: 'n1', port: 0, value: 'i64:2' },
    { node: 'n2', port: 0, value: 'bool:true' },
    { node: 'f1', port: 0, value: 'i64:7' },
    { node: 'v9', port: 0, value: 'i64:1' },
  ];
  const breakpoints = [stop({ node: 'n4', condition: 'true' }), stop({ node: 'n4' }), stop({ node: 'n99' })];
  const marks = marksOf(choice(), breakpoints, 'n3', locals);
  expect(Object.fromEntries(marks)).toEqual({
    n3: { here: true, values: [], stop: null },
    n2: { here: false, values: ['true'], stop: null },
    'function.params': { here: false, values: ['7'], stop: null },
    n4: { here: false, values: [], stop: 'condition' },
  });
  expect([...marksOf(choice(), [], 'n3', null).keys()]).toEqual(['n3']);
});

test('what it says aloud, what is typed, and how fast it plays', () => {
  expect(spokenState(state(), 'n2 in m::f')).toBe('step 5, at rest, before n2 in m::f');
  expect(spokenState(state({ status: 'COMPLETED', position: 7499 }), null)).toBe('returned after 7,499 steps');
  expect([stepTyped('3,000'), stepTyped(' 12 '), stepTyped('x'), stepTyped('-1'), stepTyped('')]).toEqual([
    3000,
    12,
    null,
    null,
    null,
  ]);
  expect(short('i64:-5')).toBe('-5');
  expect(short('"a long text"', 5)).toBe('"a l…');
  for (const speed of SPEEDS) {
    const { steps, wait } = pace(speed);
    expect((steps * 1000) / wait).toBe(speed);
  }
});

test('a page of steps has the newest one in its second half', () => {
  for (const position of [0, 1, 60, 119, 120, 121, 180, 5000, 123_456_789]) {
    const from = pageAround(position, 120);
    expect(from).toBeLessThanOrEqual(position);
    expect(position - from).toBeLessThanOrEqual(120);
    if (position > 120) expect(position - from).toBeGreaterThan(59);
  }
});

test('a step that is none says which there are', () => {
  const end = { steps: 1200, final: true };
  expect([stepSlip('1,200', end), stepSlip('9999', { steps: 1200, final: false })]).toEqual([null, null]);
  expect(stepSlip('foo', end)).toBe('A number from 0 to 1,200 is wanted.');
  expect(stepSlip('1201', end)).toBe('A number from 0 to 1,200 is wanted.');
  expect(stepSlip('-1', { steps: 7, final: false })).toBe('A number from 0 on is wanted; the run was seen up to 7.');
});
