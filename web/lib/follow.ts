import type { TypedDocumentNode } from '@urql/core';

import { problemOf, UNAUTHENTICATED, type Problem } from './problems';
import { FORBIDDEN, type Socket } from './socket';

/** How a subscription stands. */
export type LiveStatus = 'connecting' | 'connected' | 'reconnecting' | 'stopped';

/** What is followed, and who is told. */
export interface Following<Data, Variables> {
  document: TypedDocumentNode<Data, Variables> & string;
  /** The variables with which it goes on after a cursor; null at the beginning. */
  variables(after: string | null): Variables;
  /** The cursor of an event. */
  cursorOf(data: Data): string;
  /** Where it begins; null: from now on. */
  after: string | null;
  onEvent(data: Data): void;
  onStatus(status: LiveStatus): void;
  /** Why it ended for good. */
  onProblem(problem: Problem): void;
}

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5_000;

/** How long the next try waits, in milliseconds, after so many that failed. `chance` between 0 and 1 spreads clients. */
export function waitBefore(failures: number, chance: number): number {
  const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** failures);
  return wait / 2 + (wait / 2) * chance;
}

/**
 * Follows a subscription across lost connections: each time it goes on after the last event that arrived.
 *
 * Returns what ends it.
 */
export function follow<Data, Variables extends Record<string, unknown>>(
  { client, isConnected }: Socket,
  { document, variables, cursorOf, onEvent, onStatus, onProblem, ...from }: Following<Data, Variables>,
): () => void {
  let { after } = from;
  let failures = 0;
  let ended = false;
  let leave = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;

  const stop = (problem: Problem) => {
    ended = true;
    onStatus('stopped');
    onProblem(problem);
  };

  const arrived = () => {
    failures = 0;
    onStatus('connected');
  };

  const again = () => {
    if (ended) return;
    onStatus('reconnecting');
    clearTimeout(timer);
    timer = setTimeout(start, waitBefore(failures, Math.random()));
    failures += 1;
  };

  const start = () => {
    clearTimeout(timer);
    if (ended) return;
    const forget = client.on('connected', arrived);
    const unsubscribe = client.subscribe<Data>(
      { query: document, variables: variables(after) },
      {
        next: ({ data, errors }) => {
          if (errors) return stop(problemOf(errors));
          if (!data || ended) return;
          after = cursorOf(data);
          onEvent(data);
        },
        error: (error) => {
          forget();
          if (ended) return;
          if (Array.isArray(error)) stop(problemOf(error));
          else if (error instanceof CloseEvent && error.code === FORBIDDEN)
            stop({ ...problemOf(error), code: UNAUTHENTICATED, message: error.reason || 'the token is not good' });
          else again();
        },
        complete: () => {
          forget();
          again();
        },
      },
    );
    leave = () => {
      forget();
      unsubscribe();
    };
    if (isConnected()) arrived();
  };

  const online = () => {
    if (timer === undefined || isConnected()) return;
    failures = 0;
    start();
  };
  window.addEventListener('online', online);

  onStatus('connecting');
  start();
  return () => {
    ended = true;
    clearTimeout(timer);
    window.removeEventListener('online', online);
    leave();
  };
}
