import type { Client } from 'urql';

import { PreviewEditsDocument, type EditInput } from '../../generated/graphql';
import { problemOf } from '../../lib/problems';
import type { Preview } from './model';
import type { Asking } from './PreviewDialog';
import { fileOf } from './unified';

/** Edits of a program, most of them in one function. */
export interface Proposed {
  edits: readonly EditInput[];
  /** The function whose text tells what they change; null where they are in none. */
  function: string | null;
  /** Its text before them. */
  text: string | null;
  /** Why, where the reader gives no other reason. */
  message: string;
}

/** Tries edits or makes them, on the revision that they are about. */
export async function proposed(
  client: Client,
  id: string,
  { edits, function: ref, text, message }: Proposed,
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
  const variables = { input, function: ref, inFunction: ref !== null };
  const { data, error } = await client.mutation(PreviewEditsDocument, variables).toPromise();
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
    case 'EditApplied': {
      const after = outcome.program.function;
      return {
        state: 'made',
        revision: outcome.revision?.number ?? null,
        difference: null,
        files: text !== null && after?.text ? [fileOf(after.path, text, after.text)] : [],
        changed: outcome.changed,
        newFindings: outcome.diagnosticsAdded,
        resolved: outcome.diagnosticsResolved,
        remaining: outcome.program.diagnostics?.totalCount ?? null,
        plan: null,
        rebasedOver: outcome.rebasedOver,
        note: null,
      };
    }
  }
}
