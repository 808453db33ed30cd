import type { Client } from 'urql';
import { beforeEach, expect, test } from 'vitest';

import type { RunGivenQuery } from '../../generated/graphql';
import { use } from '../../lib/testing';
import { givenTo } from './given';
import type { State } from './model';
import { begunRun, recentRun, recentRuns, rememberRun } from './recent';
import { useGiven } from './useGiven';

type Simulation = NonNullable<RunGivenQuery['simulation']>;
const of = (params: string[], values: [node: string, port: number, value: string][]): Simulation => ({
  function: { ref: 'f9', params: params.map((name) => ({ name })) },
  callLocals: values.map(([node, port, value]) => ({ node, port, value })),
});

beforeEach(() => localStorage.clear());

test('what a run was given is what its outermost call has of its parameters, as a run takes it', () => {
  const values: [string, number, string][] = [
    ['n7', 0, 'i64:3'],
    ['f9', 1, '"a \\"b\\""'],
    ['f9', 0, 'i64:20'],
    ['f9', 2, 'Account{owner: "Ada"}'],
  ];
  expect(givenTo(of(['count', 'text', 'account'], values))).toEqual({
    args: ['20', 'a "b"', 'Account{owner: "Ada"}'],
    whole: true,
  });
  expect(givenTo(of([], []))).toEqual({ args: [], whole: true });
  expect(givenTo(of(['text'], [['f9', 0, '"aaa" ...']]))?.whole).toBe(false);
});

test('of a run whose outermost call has an argument no more, or is over, nothing is said', () => {
  expect(givenTo(of(['a', 'b'], [['f9', 0, 'i64:1']]))).toBe(null);
  expect(givenTo({ function: { ref: 'f9', params: [] }, callLocals: null })).toBe(null);
  expect(givenTo(null)).toBe(null);
});

const stands = (more: object): State =>
  ({
    id: 'S-1',
    status: 'PAUSED',
    stack: [{}],
    program: { programId: 'P-1', revision: { number: 4 } },
    function: { ref: 'f9', path: 'm::f' },
    ...more,
  }) as unknown as State;

/** A client that knows of one run, and counts how often it is asked. */
function knowing(simulation: Simulation | null) {
  const asked: unknown[] = [];
  const query = (_: unknown, variables: unknown) => {
    asked.push(variables);
    return { toPromise: async () => ({ data: { simulation } }) };
  };
  return { client: { query } as unknown as Client, asked };
}

test('a run that was begun elsewhere is asked once it stands in a call, and is kept among earlier ones', async () => {
  const { client, asked } = knowing(of(['x'], [['f9', 0, 'i64:5']]));
  const given = await use(useGiven, client, stands({ stack: [] }));
  expect([given.now(), asked.length]).toEqual([null, 0]);
  await given.again(stands({}));
  await given.again(stands({ position: 7 }));
  expect(given.now()).toEqual({ args: ['5'], origin: null });
  expect(asked).toEqual([{ id: 'S-1' }]);
  expect(recentRuns()).toMatchObject([
    { sim: 'S-1', function: 'f9', revision: 4, run: { args: ['5'] }, elsewhere: true },
  ]);
  expect([recentRun('S-1')?.elsewhere, begunRun('S-1')]).toEqual([true, undefined]);
});

test('a run that has an argument no more is asked again at its start', async () => {
  const { client, asked } = knowing(of(['x'], []));
  const given = await use(useGiven, client, stands({ position: 7 }));
  await given.again(stands({ position: 6 }));
  expect([given.now(), asked.length]).toEqual([null, 1]);
  await given.again(stands({ position: 0 }));
  expect(asked.length).toBe(2);
});

test('what is not told in full is shown, and not kept', async () => {
  const { client } = knowing(of(['x'], [['f9', 0, '"aaa" ...']]));
  const given = await use(useGiven, client, stands({}));
  expect(given.now()?.origin).toBe(null);
  expect(recentRuns()).toEqual([]);
});

test('a run that was begun here is known', async () => {
  const { client, asked } = knowing(null);
  const begun = { program: 'P-1', function: 'f9', revision: 4, run: { args: ['5'] }, origin: 'the form', at: '' };
  rememberRun({ sim: 'S-1', ...begun });
  const given = await use(useGiven, client, stands({}));
  expect([given.now(), asked.length]).toEqual([{ args: ['5'], origin: 'the form' }, 0]);
  expect([begunRun('S-1'), begunRun('S-2')]).toEqual([{ sim: 'S-1', ...begun }, undefined]);
});
