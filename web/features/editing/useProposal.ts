import { useCallback, useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';

import { EditProposeDocument } from '../../generated/graphql';
import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';
import type { Outcome, Proposal, Tried } from './model';

/** How long one waits for the next key before edits are tried, in milliseconds. */
const PAUSE = 250;

/**
 * Tries edits while they are written: a dry run of the newest, once the writer pauses; what is under way is given up when
 * something newer is written. Then makes them.
 */
export function useProposal(program: string, ref: string, proposal: Proposal | null) {
  const client = useClient();
  const [tried, setTried] = useState<{ of: string; outcome: Outcome | null; problem: Problem | null } | null>(null);
  const [applying, setApplying] = useState(false);
  const key = useRef<{ of: string; key: string }>(null);
  const written = proposal === null ? null : JSON.stringify(proposal);

  useEffect(() => {
    if (written === null) return;
    let leave = () => {};
    const timer = setTimeout(() => {
      const input = { programId: program, dryRun: true, ...(JSON.parse(written) as Proposal) };
      const { unsubscribe } = client.mutation(EditProposeDocument, { input, ref }).subscribe(({ data, error }) => {
        const outcome = data?.proposeEdit?.outcome ?? null;
        setTried({ of: written, outcome, problem: outcome ? null : problemOf(error) });
      });
      leave = unsubscribe;
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      leave();
    };
  }, [client, program, ref, written]);

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
      const { data, error } = await client.mutation(EditProposeDocument, { input, ref }).toPromise();
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
  return { tried: state, applying, apply };
}
