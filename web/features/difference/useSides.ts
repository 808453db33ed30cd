import { useMemo } from 'react';

import type { Problem } from '../../lib/problems';
import { useFunction, type Graph, type Head } from '../function';
import { unionOf, type Sides } from './model';

/** A function on both sides, where it is there, and the graph of both. */
export interface Both {
  heads: Sides<Head>;
  graph: Graph;
}

/** How far both sides are loaded. */
export interface LoadingBoth {
  both: Both | undefined;
  /** How many nodes have arrived, of how many. */
  progress: { done: number; total: number } | null;
  problem: Problem | undefined;
  retry(): void;
}

/** Loads a function at two revisions; a revision is null where the function is not there. */
export function useSides(about: {
  programId: string;
  function: string;
  from: number | null;
  to: number | null;
  modified: readonly string[];
}): LoadingBoth {
  const { programId, function: ref, from, to, modified } = about;
  const was = useFunction(programId, from === null ? null : ref, from ?? undefined);
  const is = useFunction(programId, to === null ? null : ref, to ?? undefined);
  const before = was.loaded;
  const after = is.loaded;
  const both = useMemo((): Both | undefined => {
    if ((from !== null && !before) || (to !== null && !after)) return undefined;
    const graphs = { before: before?.graph ?? null, after: after?.graph ?? null };
    return {
      heads: { before: before?.head ?? null, after: after?.head ?? null },
      graph: unionOf(graphs, new Set(modified)),
    };
  }, [from, to, before, after, modified]);
  const parts = [was.progress, is.progress].filter((part) => part !== null);
  return {
    both,
    progress:
      parts.length === 0
        ? null
        : {
            done: parts.reduce((sum, { done }) => sum + done, 0),
            total: parts.reduce((sum, { total }) => sum + total, 0),
          },
    problem: was.problem ?? is.problem,
    retry() {
      if (was.problem) was.retry();
      if (is.problem) is.retry();
    },
  };
}
