import { CombinedError } from '@urql/core';
import type { Client } from 'urql';
import { expect, test, vi } from 'vitest';

import { use } from '../../lib/testing';
import type { Proposal } from './model';
import { useProposal } from './useProposal';

const rename = (name: string): Proposal => ({ edits: [{ renameNode: { ref: 'n1', name } }], baseRevision: 'r4' });
const DIFF = { from: { number: 4 }, to: null };

/** A server that applies everything, and what was sent to it. */
function applying() {
  const sent: Record<string, unknown>[] = [];
  const mutation = (_: unknown, variables: Record<string, unknown>) => {
    sent.push(variables);
    const outcome = { __typename: 'EditApplied', ...(variables['tried'] === true && { diff: DIFF }) };
    const answer = { data: { proposeEdit: { outcome } } };
    return {
      toPromise: async () => answer,
      subscribe: (told: (answer: object) => void) => {
        told(answer);
        return { unsubscribe: () => {} };
      },
    };
  };
  return { sent, client: { mutation } as unknown as Client };
}

test('what edits would change is known once they are tried, and asked for no more when they are made', async () => {
  vi.useFakeTimers();
  const { sent, client } = applying();
  const proposal = await use(useProposal, client, 'p', 'f1', rename('sum'));
  expect(proposal.now().difference).toBeNull();
  const pause = () => proposal.during(async () => vi.runAllTimers());
  await pause();
  const { difference } = proposal.now();
  expect(difference).toMatchObject({ programId: 'p', diff: DIFF, first: 'text' });

  // Parts of it are asked for by what is looked at: it is the same one as long as the edits are.
  await proposal.again('p', 'f1', rename('sum'));
  expect(proposal.now().difference).toBe(difference);
  await proposal.again('p', 'f1', rename('total'));
  expect(proposal.now().difference).toBeNull();
  await pause();
  expect(proposal.now().difference).not.toBe(difference);

  await proposal.during(() => proposal.now().apply(null));
  expect(sent.map(({ tried }) => tried)).toEqual([true, true, false]);
  vi.useRealTimers();
});

test('edits that could not be tried for want of a server are tried again by themselves', async () => {
  vi.useFakeTimers();
  const { sent, client } = applying();
  const there = client.mutation;
  client.mutation = (() => ({
    subscribe: (told: (answer: object) => void) => {
      told({ error: new CombinedError({ networkError: new Error('away') }) });
      return { unsubscribe: () => {} };
    },
  })) as unknown as Client['mutation'];
  const proposal = await use(useProposal, client, 'p', 'f1', rename('sum'));
  await proposal.during(async () => vi.advanceTimersByTime(300));
  expect(proposal.now().tried).toMatchObject({ state: 'failed', problem: { code: 'OFFLINE' } });
  client.mutation = there;
  await proposal.during(async () => vi.advanceTimersByTime(2_000));
  expect(proposal.now().tried.state).toBe('failed');
  await proposal.during(async () => vi.advanceTimersByTime(300));
  expect(proposal.now().tried.state).toBe('done');
  expect(sent.length).toBe(1);
  vi.useRealTimers();
});
