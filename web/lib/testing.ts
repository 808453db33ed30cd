// Hooks for tests, within a page that has nothing else.
import { act, createElement, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import type { Client } from 'urql';
import { onTestFinished, vi } from 'vitest';

import { ConnectionProvider } from './connection';
import type { Socket } from './socket';

/** A hook in use: what it gives now, again with other arguments, and whatever else is to happen before one looks. */
export interface Used<Args extends unknown[], Given> {
  now(): Given;
  again(...args: Args): Promise<void>;
  during<Result>(what: () => Promise<Result>): Promise<Result>;
}

/** Uses a hook until the test is over; the client answers what it asks, the socket tells of the connection. */
export async function use<Args extends unknown[], Given>(
  hook: (...args: Args) => Given,
  client: Partial<Client> & { socket?: Socket },
  ...args: Args
): Promise<Used<Args, Given>> {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  let now: { given: Given } | undefined;
  function Probe({ args }: { args: Args }) {
    const given = hook(...args);
    useEffect(() => void (now = { given }));
    return null;
  }
  const root = createRoot(document.createElement('div'));
  onTestFinished(() => {
    act(() => root.unmount());
    vi.unstubAllGlobals();
  });
  const again = (...args: Args) =>
    act(async () => {
      const connection = { client: client as Client, socket: client.socket ?? (null as unknown as Socket) };
      root.render(createElement(ConnectionProvider, { connection }, createElement(Probe, { args })));
    });
  await again(...args);
  return {
    now() {
      if (!now) throw new Error('the hook was not used');
      return now.given;
    },
    again,
    during: (what) => act(what),
  };
}
