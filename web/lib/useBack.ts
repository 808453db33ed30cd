import { use, useEffect, useEffectEvent } from 'react';

import { Socketed } from './connection';
import { OFFLINE, type Problem } from './problems';

/** Tries again what did not reach the server, once the connection is back. */
export function useBack(problem: Problem | undefined, again: () => void): void {
  const socket = use(Socketed);
  const offline = problem?.code === OFFLINE;
  const back = useEffectEvent(again);
  useEffect(() => (offline ? socket?.client.on('connected', () => back()) : undefined), [socket, offline]);
}
