import { useEffect, useRef, useState } from 'react';
import { useClient, type AnyVariables, type TypedDocumentNode } from 'urql';

import { chase, type Chase } from '../../lib/chase';
import { problemOf, type Problem } from '../../lib/problems';
import { useBack } from '../../lib/useBack';

/** What was found where a run stands. */
export interface Looked<Data> {
  data: Data | undefined;
  /** The step before which it was found. */
  position: number | null;
  /** Whether it is what was asked for last. */
  fresh: boolean;
  problem: Problem | undefined;
}

/** Looks something up where a run stands, and again wherever it comes to. Nothing is asked without variables. */
export function useLook<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables | null,
  position: number,
): Looked<Data> {
  const client = useClient();
  const [looked, setLooked] = useState<{ asked: string; position: number; data?: Data; problem?: Problem }>();
  const asks = useRef<Chase<{ variables: Variables; position: number; asked: string }>>(null);
  useEffect(() => {
    const chased = chase<{ variables: Variables; position: number; asked: string }>(async (wanted, isLeft) => {
      const { data, error } = await client
        .query(document, wanted.variables, { requestPolicy: 'network-only' })
        .toPromise();
      const place = { asked: wanted.asked, position: wanted.position };
      if (!isLeft()) setLooked(data && !error ? { ...place, data } : { ...place, problem: problemOf(error) });
    });
    asks.current = chased;
    return () => chased.leave();
  }, [client, document]);
  const asked = variables && `${position} ${JSON.stringify(variables)}`;
  useEffect(() => {
    if (variables && asked) asks.current?.want({ variables, position, asked });
    // The variables are in what is asked.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [client, document, asked]);
  useBack(looked?.problem, () => {
    if (variables && asked) asks.current?.want({ variables, position, asked });
  });
  return {
    data: looked?.data,
    position: looked?.position ?? null,
    fresh: looked !== undefined && looked.asked === asked,
    problem: looked?.problem,
  };
}
