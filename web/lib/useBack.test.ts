import { expect, test, vi } from 'vitest';

import { OFFLINE, type Problem } from './problems';
import type { Socket } from './socket';
import { use } from './testing';
import { useBack } from './useBack';

const problem = (code: string): Problem => ({ code, message: '', action: '' });

/** A socket that tells whoever listens that it is connected. */
function fakeSocket() {
  const listeners = new Set<() => void>();
  const on = (_: string, listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return { socket: { client: { on } } as unknown as Socket, connect: () => listeners.forEach((tell) => tell()) };
}

test('what did not reach the server is tried again once the connection is back, and once only', async () => {
  const again = vi.fn();
  const { socket, connect } = fakeSocket();
  const used = await use(
    (found: Problem | undefined) => useBack(found, again),
    { socket },
    undefined as Problem | undefined,
  );
  connect();
  await used.again(problem(OFFLINE));
  expect(again).toHaveBeenCalledTimes(0);
  connect();
  await used.again(undefined);
  connect();
  expect(again).toHaveBeenCalledTimes(1);
});

test('what the server refused is not tried again', async () => {
  const again = vi.fn();
  const { socket, connect } = fakeSocket();
  await use(() => useBack(problem('NOT_FOUND'), again), { socket });
  connect();
  expect(again).not.toHaveBeenCalled();
});
