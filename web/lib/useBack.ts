import { useEffect, useEffectEvent } from 'react';

import type { LiveStatus } from './follow';
import { OFFLINE, type Problem } from './problems';

/** Tries again what did not reach the server, once the connection is back. */
export function useBack(status: LiveStatus, problem: Problem | undefined, again: () => void): void {
  const back = useEffectEvent(() => {
    if (status === 'connected' && problem?.code === OFFLINE) again();
  });
  useEffect(() => back(), [status]);
}
