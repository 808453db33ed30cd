import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';

import { EditTargetDocument, type EditTargetQuery } from '../../generated/graphql';
import { chase, type Chase } from '../../lib/chase';
import { problemOf, type Problem } from '../../lib/problems';
import { functionKey } from '../../lib/program';
import { plainText } from '../../lib/text';
import { useBack } from '../../lib/useBack';
import type { Base } from './draft';

type FunctionData = NonNullable<NonNullable<EditTargetQuery['program']>['function']>;

/** A function that is edited, as it is at the head. */
export interface Target {
  info: FunctionData;
  now: Base;
}

/** Reads a function at the head, and again when that moves. What was there stays meanwhile. */
export function useTarget(programId: string, name: string, head: number | null) {
  const client = useClient();
  const [target, setTarget] = useState<Target>();
  const [problem, setProblem] = useState<Problem>();
  const [attempt, setAttempt] = useState(0);
  const reads = useRef<Chase<number | null>>(null);
  useEffect(() => {
    // Found once, it is asked for by its ref: its name may become another.
    let key = functionKey(name);
    const chased = chase<number | null>(async (_, isLeft) => {
      // Not kept by the client: a dry run would have it asked anew with every key.
      const { data, error } = await client
        .query(EditTargetDocument, { id: programId, ...key }, { requestPolicy: 'network-only' })
        .toPromise();
      if (isLeft()) return;
      const info = data?.program?.function;
      if (!info) return setProblem(problemOf(error));
      const revision = data.program?.revision?.number ?? null;
      key = functionKey(info.ref);
      setProblem(undefined);
      setTarget({ info, now: { revision, hash: info.contentHash, text: plainText(info.text ?? '') } });
    });
    reads.current = chased;
    return () => chased.leave();
  }, [client, programId, name]);
  useEffect(() => reads.current?.want(head), [client, programId, name, head, attempt]);
  const retry = () => setAttempt((before) => before + 1);
  useBack(problem, retry);
  return { target, problem, retry };
}
