import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient } from 'urql';

import { EditProposeDocument } from '../../generated/graphql';
import { freshKey } from '../../lib/key';
import { OFFLINE, problemOf, type Problem } from '../../lib/problems';
import { foreseenBy, type Difference } from '../preview';
import type { Outcome, Proposal, Tried } from './model';

/** How long one waits for the next key before edits are tried, in milliseconds. */
const PAUSE = 250;
/** How long after edits could not be tried for want of a server they are tried again, in milliseconds. */
const AGAIN = 2000;

/**
 * Tries edits while they are written: a dry run of the newest, once the writer pauses; what is under way is given up when
 * something newer is written; what they would change, once they are tried. Then makes them. The text of the function that they
 * are about, if it is one, comes with that.
 */
export function useProposal(program: string, ref: string | null, proposal: Proposal | null) {
  const client = useClient();
  const [tried, setTried] = useState<{ of: string; outcome: Outcome | null; problem: Problem | null } | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [applying, setApplying] = useState(false);
  const key = useRef<{ of: string; key: string }>(null);
  const written = proposal === null ? null : JSON.stringify(proposal);

  useEffect(() => {
    if (written === null) return;
    let leave = () => {};
    const timer = setTimeout(() => {
      const input = { programId: program, dryRun: true, ...(JSON.parse(written) as Proposal) };
      const asked = client.mutation(EditProposeDocument, { input, ref: ref ?? '', own: false, tried: true });
      const { unsubscribe } = asked.subscribe(({ data, error }) => {
        const outcome = data?.proposeEdit?.outcome ?? null;
        setTried({ of: written, outcome, problem: outcome ? null : problemOf(error) });
      });
      leave = unsubscribe;
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      leave();
    };
  }, [client, program, ref, written, attempt]);
  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  useEffect(() => {
    if (tried?.problem?.code !== OFFLINE || tried.of !== written) return;
    const timer = setTimeout(retry, AGAIN);
    return () => clearTimeout(timer);
  }, [tried, written, retry]);

  const apply = useCallback(
    async (message: string | null): Promise<Outcome | Problem> => {
      if (written === null) throw new Error('what is applied was written');
      // Pressed again, or sent again after a lost answer, it is made once.
      if (key.current?.of !== written) key.current = { of: written, key: freshKey() };
      const input = {
        programId: program,
        idempotencyKey: key.current.key,
        message,
        ...(JSON.parse(written) as Proposal),
      };
      setApplying(true);
      const asked = client.mutation(EditProposeDocument, { input, ref: ref ?? '', own: ref !== null, tried: false });
      const { data, error } = await asked.toPromise();
      setApplying(false);
      return data?.proposeEdit?.outcome ?? problemOf(error);
    },
    [client, program, ref, written],
  );

  const state: Tried =
    written === null
      ? { state: 'idle' }
      : tried?.of !== written
        ? { state: 'trying', last: tried?.outcome ?? null }
        : tried.outcome
          ? { state: 'done', outcome: tried.outcome }
          : { state: 'failed', problem: tried.problem ?? problemOf(null) };
  const diff = state.state === 'done' && state.outcome.__typename === 'EditApplied' ? state.outcome.diff : undefined;
  const difference = useMemo(
    (): Difference | null =>
      written !== null && diff
        ? foreseenBy(client, { programId: program, ...(JSON.parse(written) as Proposal) }, diff)
        : null,
    [client, program, written, diff],
  );
  return { tried: state, difference, applying, apply, retry };
}
