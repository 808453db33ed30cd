import { useEffect, useState } from 'react';
import { useClient } from 'urql';

import { RunGivenDocument } from '../../generated/graphql';
import { givenTo } from './given';
import type { State } from './model';
import { recentRun, rememberRun } from './recent';

/** What is known of how a run began. */
export interface Beginning {
  args: readonly unknown[];
  /** Where its inputs came from, in words; null where another browser or an agent began it. */
  origin: string | null;
}

/** What this browser keeps of a run. */
function kept(sim: string): Beginning | null {
  const run = recentRun(sim);
  return run ? { args: run.run.args, origin: run.elsewhere ? null : run.origin } : null;
}

/**
 * What a run was given, and from where. One that was begun elsewhere is asked for it where it stands in a call, and is kept
 * then among the runs whose inputs another one can be given.
 */
export function useGiven(state: State): Beginning | null {
  const client = useClient();
  const { id, program, function: run, stack, status, position } = state;
  const [found, setFound] = useState<Beginning | null>(() => kept(id));
  const asks = found === null && run !== null && stack.length > 0 && status !== 'RUNNING';
  const ref = run?.ref ?? '';
  const revision = program.revision?.number ?? null;
  // What a call does not have any more, it has at its start.
  const atStart = position === 0;
  useEffect(() => {
    if (!asks) return;
    let left = false;
    void client
      .query(RunGivenDocument, { id }, { requestPolicy: 'network-only' })
      .toPromise()
      .then(({ data }) => {
        const given = givenTo(data?.simulation ?? null);
        if (left || !given) return;
        setFound({ args: given.args, origin: null });
        if (!given.whole) return;
        rememberRun({
          sim: id,
          program: program.programId,
          function: ref,
          revision,
          run: { args: [...given.args] },
          origin: 'elsewhere',
          elsewhere: true,
          at: new Date().toISOString(),
        });
      });
    return () => {
      left = true;
    };
  }, [client, asks, atStart, id, program.programId, ref, revision]);
  return found;
}
