import { expect, test, vi } from 'vitest';

import type { LiveStatus } from './follow';
import { OFFLINE, type Problem } from './problems';
import { use } from './testing';
import { useBack } from './useBack';

const problem = (code: string): Problem => ({ code, message: '', action: '' });

test('what did not reach the server is tried again once the connection is back, and once only', async () => {
  const again = vi.fn();
  const hook = (status: LiveStatus, found: Problem | undefined) => useBack(status, found, again);
  const used = await use(hook, {}, 'connected' as LiveStatus, undefined as Problem | undefined);
  await used.again('connected', problem(OFFLINE));
  await used.again('reconnecting', problem(OFFLINE));
  expect(again).toHaveBeenCalledTimes(0);
  await used.again('connected', problem(OFFLINE));
  await used.again('connected', problem(OFFLINE));
  expect(again).toHaveBeenCalledTimes(1);
});

test('what the server refused is not tried again', async () => {
  const again = vi.fn();
  const hook = (status: LiveStatus) => useBack(status, problem('NOT_FOUND'), again);
  const used = await use(hook, {}, 'reconnecting' as LiveStatus);
  await used.again('connected');
  expect(again).not.toHaveBeenCalled();
});
