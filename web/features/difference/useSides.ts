import { useMemo } from 'react';

import type { Problem } from '../../lib/problems';
import { useBack } from '../../lib/useBack';
import { useFunction, type Graph, type Head } from '../function';
import type { AskPart, FunctionChange } from '../preview';
import { unionOf, type Sides } from './model';
import { useForeseen } from './useForeseen';

/** Where a function is after a change: at a revision, as it is foreseen where that is not made; null where it is gone. */
export type After = number | 'foreseen' | null;

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

/** Loads a function before and after a change; what it was at is null where the function is not there. */
export function useSides(about: {
  programId: string;
  change: FunctionChange;
  ask: AskPart;
  from: number | null;
  to: After;
}): LoadingBoth {
  const { programId, change, ask, from, to } = about;
  const { ref, behind, modified } = change;
  const was = useFunction(programId, from === null ? null : ref, from ?? undefined);
  const kept = useFunction(programId, typeof to === 'number' ? ref : null, typeof to === 'number' ? to : undefined);
  const meant = useForeseen(to === 'foreseen' ? ask : null, ref, behind);
  const is = to === 'foreseen' ? meant : kept;
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
  const problem = was.problem ?? is.problem;
  const retry = () => {
    if (was.problem) was.retry();
    if (is.problem) is.retry();
  };
  useBack(problem, retry);
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
    problem,
    retry,
  };
}
