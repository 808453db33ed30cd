import { useEffect, useState } from 'react';
import { useClient } from 'urql';

import { RunLengthDocument } from '../../generated/graphql';
import { revisionKey } from '../../lib/program';
import type { Extent } from './model';
import { begunRun } from './recent';

/**
 * How many steps a simulation has in all: what was seen of it or, where it was begun in this browser, what another run of
 * the same inputs says, which is fast because it shows nothing.
 */
export function useLength(sim: string, seen: Extent): Extent {
  const client = useClient();
  const [steps, setSteps] = useState<number | null>(null);
  useEffect(() => {
    const recent = begunRun(sim);
    if (!recent) return;
    let left = false;
    const { program, function: ref, revision, run } = recent;
    const input = { ...run, recordTrace: 'NONE' as const };
    const variables = { id: program, ref, at: revisionKey(revision ?? undefined).at ?? null, input };
    void client
      .query(RunLengthDocument, variables)
      .toPromise()
      .then(({ data }) => {
        const found = data?.program?.function?.simulate?.steps;
        if (!left && found !== undefined) setSteps(found);
      });
    return () => {
      left = true;
    };
  }, [client, sim]);
  return seen.final || steps === null || steps < seen.steps ? seen : { steps, final: true };
}
