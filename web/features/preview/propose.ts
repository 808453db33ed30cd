import type { Client } from 'urql';

import {
  PreviewEditsDocument,
  PreviewEditsPartDocument,
  type EditInput,
  type ProposeEditInput,
} from '../../generated/graphql';
import { problemOf } from '../../lib/problems';
import { isSame, type AskPart, type Diff, type Difference, type Preview } from './model';
import type { Asking } from './PreviewDialog';

/** Edits of a program. */
export interface Proposed {
  edits: readonly EditInput[];
  /** Why, where the reader gives no other reason. */
  message: string;
}

/** Tries edits or makes them, on the revision that they are about. */
export async function proposed(
  client: Client,
  id: string,
  { edits, message }: Proposed,
  { dryRun, head, message: why, key }: Asking,
): Promise<Preview> {
  const input = {
    programId: id,
    dryRun,
    edits: [...edits],
    message: why ?? message,
    ...(head !== null && { baseRevision: `r${head}` }),
    ...(!dryRun && { idempotencyKey: key }),
  };
  const { data, error } = await client.mutation(PreviewEditsDocument, { input, shown: dryRun }).toPromise();
  const outcome = data?.proposeEdit?.outcome;
  switch (outcome?.__typename) {
    case undefined:
      return { state: 'failed', problem: problemOf(error) };
    case 'EditRejected':
      return { state: 'rejected', errors: outcome.errors };
    case 'EditConflict': {
      const { base, head, conflicts } = outcome;
      return { state: 'conflict', base: base?.number ?? null, head: head?.number ?? null, conflicts };
    }
    case 'EditApplied':
      if (outcome.diff && isSame(outcome.diff)) return { state: 'nothing', reason: 'the program is like this already' };
      return {
        state: 'made',
        revision: outcome.revision?.number ?? null,
        difference: outcome.diff ? foreseenBy(client, input, outcome.diff) : null,
        newFindings: outcome.diagnosticsAdded,
        resolved: outcome.diagnosticsResolved,
        remaining: outcome.program.diagnostics?.totalCount ?? null,
        plan: null,
        rebasedOver: outcome.rebasedOver,
        note: null,
      };
  }
}

/** What edits would change: few things in few places, whose text says most. */
export function foreseenBy(client: Client, input: ProposeEditInput, diff: Diff): Difference {
  return { programId: input.programId, diff, ask: partsOf(client, input, diff), first: 'text' };
}

/** Asks for parts of what edits would change: they are tried again for each. */
function partsOf(client: Client, input: ProposeEditInput, { from }: Diff): AskPart {
  return async (part) => {
    const variables = { ...part, input: { ...input, dryRun: true } };
    const { data, error } = await client.mutation(PreviewEditsPartDocument, variables).toPromise();
    if (error) throw error;
    const outcome = data?.proposeEdit?.outcome;
    // Edits are carried over to a head that has moved, where they differ from something else.
    if (outcome?.__typename !== 'EditApplied' || outcome.diff.from?.number !== from?.number) return null;
    return outcome.diff;
  };
}
