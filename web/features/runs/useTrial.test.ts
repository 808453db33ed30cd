import type { Client } from 'urql';
import { expect, test } from 'vitest';

import { RewindRunDocument } from '../../generated/graphql';
import { use } from '../../lib/testing';
import { useTrial } from './useTrial';

const shown = { superseded: 2, reverted: [], notUndone: [] };
const failure = { error: new Error('offline') };

/** A trial of which each mutation has its answer, and what was sent. */
async function tried(answers: object[]) {
  const sent: { input: { dryRun: boolean; idempotencyKey?: string } }[] = [];
  const mutation = (_: unknown, variables: (typeof sent)[number]) => {
    sent.push(variables);
    return { toPromise: async () => answers[sent.length - 1] };
  };
  const client = { mutation } as unknown as Client;
  const trial = await use(() => useTrial(RewindRunDocument, { runId: 'run', toStep: 3 }), client);
  return { trial, sent };
}

test('what it comes to is tried once, and done under one key however often', async () => {
  const made = { data: { tried: { run: { id: 'r' } } } };
  const { trial, sent } = await tried([{ data: { tried: { run: null, shown } } }, failure, made]);
  expect(trial.now()).toMatchObject({ shown, busy: false, problem: undefined });
  expect(sent).toEqual([{ input: { runId: 'run', toStep: 3, dryRun: true } }]);

  expect(await trial.during(() => trial.now().carryOut())).toBeNull();
  expect(trial.now()).toMatchObject({ shown, busy: false, problem: { message: 'offline' } });
  expect(await trial.during(() => trial.now().carryOut())).toBe('r');
  expect(sent.map(({ input }) => input.dryRun)).toEqual([true, false, false]);
  expect(sent[1]?.input.idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
  expect(sent[2]?.input.idempotencyKey).toBe(sent[1]?.input.idempotencyKey);
});

test('a trial that fails says why, and shows nothing', async () => {
  const { trial } = await tried([failure]);
  expect(trial.now()).toMatchObject({ shown: null, busy: false, problem: { message: 'offline' } });
});
