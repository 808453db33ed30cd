import { act, createElement, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider, type Client } from 'urql';
import { afterEach, expect, test, vi } from 'vitest';

import { RewindRunDocument } from '../../generated/graphql';
import { useTrial } from './useTrial';

type Sent = { input: { dryRun: boolean; idempotencyKey?: string } };

const shown = { superseded: 2, reverted: [], notUndone: [] };
/** What the dialog has of the hook, as it is now. */
let now: ReturnType<typeof useTrial> | undefined;
let unmount = () => {};

function Dialog({ step }: { step: number }) {
  const trial = useTrial(RewindRunDocument, { runId: 'run', toStep: step });
  useEffect(() => void (now = trial));
  return null;
}

/** A dialog whose mutations are answered so, and what it has sent. */
async function opened(answers: object[]): Promise<Sent[]> {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  const sent: Sent[] = [];
  const mutation = (_: unknown, variables: Sent) => {
    sent.push(variables);
    return { toPromise: async () => answers[sent.length - 1] };
  };
  const root = createRoot(document.createElement('div'));
  const client = { mutation } as unknown as Client;
  await act(async () => root.render(createElement(Provider, { value: client }, createElement(Dialog, { step: 3 }))));
  unmount = () => act(() => root.unmount());
  return sent;
}

afterEach(() => {
  unmount();
  vi.unstubAllGlobals();
});

test('what it comes to is tried once, and done under one key however often', async () => {
  const failure = { error: new Error('offline') };
  const sent = await opened([
    { data: { tried: { run: null, shown } } },
    failure,
    { data: { tried: { run: { id: 'r' } } } },
  ]);
  expect(now).toMatchObject({ shown, busy: false, problem: undefined });
  expect(sent).toEqual([{ input: { runId: 'run', toStep: 3, dryRun: true } }]);

  expect(await act(async () => await now?.carryOut())).toBeNull();
  expect(now).toMatchObject({ shown, busy: false, problem: { message: 'offline' } });
  expect(await act(async () => await now?.carryOut())).toBe('r');
  expect(sent.map(({ input }) => input.dryRun)).toEqual([true, false, false]);
  expect(sent[1]?.input.idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
  expect(sent[2]?.input.idempotencyKey).toBe(sent[1]?.input.idempotencyKey);
});

test('a trial that fails says why, and shows nothing', async () => {
  await opened([{ error: new Error('offline') }]);
  expect(now).toMatchObject({ shown: null, busy: false, problem: { message: 'offline' } });
});
