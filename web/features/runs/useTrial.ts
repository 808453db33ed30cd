import type { TypedDocumentNode } from '@urql/core';
import { useEffect, useState } from 'react';
import { useClient } from 'urql';

import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';
import { useBack } from '../../lib/useBack';

/** A mutation of a run that tells what it would come to, or does it. */
type Trial<Asked, Shown> = TypedDocumentNode<
  { tried: { run: { id: string } | null; shown: Shown | null } | null },
  { input: Asked & { dryRun: boolean; idempotencyKey?: string } }
>;

/** Tells what would come of something, tried once, and does it when told so. */
export function useTrial<Asked extends Record<string, unknown>, Shown>(
  trial: Trial<Asked, Shown>,
  asked: Asked,
): {
  /** What it would come to; null until that is known. */
  shown: Shown | null;
  busy: boolean;
  problem: Problem | undefined;
  /** Does it: gives the run that goes on, or null where there is a problem. */
  carryOut(): Promise<string | null>;
} {
  const client = useClient();
  const [shown, setShown] = useState<Shown | null>(null);
  const [busy, setBusy] = useState(true);
  const [problem, setProblem] = useState<Problem>();
  const [key] = useState(freshKey);
  const [attempt, setAttempt] = useState(0);
  const written = JSON.stringify(asked);
  // What is done is not done again by itself.
  useBack(shown === null ? problem : undefined, () => setAttempt((before) => before + 1));

  useEffect(() => {
    let left = false;
    setBusy(true);
    setProblem(undefined);
    const answer = client.mutation(trial, { input: { ...asked, dryRun: true } }).toPromise();
    void answer.then(({ data, error }) => {
      if (left) return;
      const shown = data?.tried?.shown ?? null;
      setBusy(false);
      setShown(shown);
      if (error || shown === null) setProblem(problemOf(error));
    });
    return () => {
      left = true;
    };
    // What is asked is compared by what it says.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [client, trial, written, attempt]);

  const carryOut = async () => {
    setBusy(true);
    const input = { ...asked, dryRun: false, idempotencyKey: key };
    const { data, error } = await client.mutation(trial, { input }).toPromise();
    setBusy(false);
    const run = data?.tried?.run ?? null;
    if (run === null) setProblem(problemOf(error));
    return run && run.id;
  };
  return { shown, busy, problem, carryOut };
}
