import type { TypedDocumentNode } from '@urql/core';
import { useCallback, useEffect, useRef } from 'react';
import { useQuery, type RequestPolicy } from 'urql';

import { problemOf, type Problem } from './problems';
import { useBack } from './useBack';

/** What has come of a query: both data and a problem where a part of it failed. */
export interface Asked<Data> {
  data: Data | undefined;
  problem: Problem | undefined;
  /** Whether an answer is on its way; what was there before stays meanwhile. */
  fetching: boolean;
  /** Asks the server again. */
  refresh(): void;
}

/** Asks a query, and again when its variables change. */
export function useAsk<Data, Variables extends Record<string, unknown>>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  options: { pause?: boolean; requestPolicy?: RequestPolicy } = {},
): Asked<Data> {
  const [{ data, error, fetching, stale }, ask] = useQuery({ query, variables, ...options } as never) as ReturnType<
    typeof useQuery<Data, Variables>
  >;
  const refresh = useCallback(() => ask({ requestPolicy: 'network-only' }), [ask]);
  const problem = error && problemOf(error);
  useBack(options.pause ? undefined : problem, refresh);
  return { data, problem, fetching: fetching || stale, refresh };
}

/** Asks again whenever something that the answer depends on has become another one; the first time has been asked. */
export function useAgain(refresh: () => void, moment: string): void {
  const asked = useRef(moment);
  useEffect(() => {
    if (asked.current === moment) return;
    asked.current = moment;
    refresh();
  }, [moment, refresh]);
}
