import { useEffect, useState } from 'react';

import { problemOf, type Problem } from '../../lib/problems';
import type { Loaded } from '../function';
import { MOVED_ON, type AskPart } from '../preview';
import { foreseen } from './foreseen';

interface Loading {
  loaded: Loaded | undefined;
  progress: { done: number; total: number } | null;
  problem: Problem | undefined;
}

const NOTHING: Loading = { loaded: undefined, progress: null, problem: undefined };

/** Loads a function of a difference as it would be. Without a way to ask there is nothing to load. */
export function useForeseen(ask: AskPart | null, ref: string, behind: string | null): Loading & { retry: () => void } {
  const [loading, setLoading] = useState(NOTHING);
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    if (!ask) return;
    let left = false;
    const tell = (now: Partial<Loading>) => {
      if (!left) setLoading({ ...NOTHING, ...now });
    };
    tell({});
    const progress = (done: number, total: number) => tell({ progress: { done, total } });
    void foreseen(ask, { ref, behind }, progress).then(
      (loaded) => tell(loaded ? { loaded } : { problem: MOVED_ON }),
      (error: unknown) => tell({ problem: problemOf(error) }),
    );
    return () => {
      left = true;
    };
  }, [ask, ref, behind, attempt]);

  return { ...loading, retry: () => setAttempt((before) => before + 1) };
}
