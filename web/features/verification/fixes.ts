// Repairs that the server works out, tried and done as edits on the revision that they are about.
import type { Client } from 'urql';

import { VerifyFixDocument, VerifyFixesDocument, VerifyProgramFixesDocument } from '../../generated/graphql';
import { problemOf, type Problem } from '../../lib/problems';
import { fileOf, findingKey, type Asking, type Finding, type Preview } from '../preview';

/** A repair of a finding. */
export interface Fix {
  title: string;
  /** A list of edits, as the server gave it: it is sent as it stands. */
  edits: unknown;
}

/** The repairs of a finding, with the text of its function as it is now. */
export interface Fixes {
  /** The revision that they are about. */
  at: string | null;
  fixes: readonly Fix[];
  text: string | null;
}

/** Asks for the repairs of a finding at a revision. */
export async function fixesOf(
  client: Client,
  id: string,
  at: string | null,
  finding: Finding,
): Promise<Fixes | Problem> {
  const key = findingKey(finding);
  const ref = finding.details?.function ?? null;
  const found = <Each extends Finding & { fixes: readonly Fix[] | null }>(list: readonly Each[] | undefined) =>
    list?.find((each) => findingKey(each) === key)?.fixes ?? [];
  if (ref === null) {
    const { data, error } = await client.query(VerifyProgramFixesDocument, { id, at }).toPromise();
    if (!data?.program) return problemOf(error);
    return { at, fixes: found(data.program.diagnostics?.nodes), text: null };
  }
  const { data, error } = await client.query(VerifyFixesDocument, { id, at, function: ref }).toPromise();
  const owner = data?.program?.function;
  if (!owner) return problemOf(error);
  return { at, fixes: found(owner.diagnostics?.nodes), text: owner.text };
}

/** Tries a repair or does it. */
export async function applyFix(
  client: Client,
  id: string,
  { fix, text, finding }: { fix: Fix; text: string | null; finding: Finding },
  { dryRun, head, message, key }: Asking,
): Promise<Preview> {
  const ref = finding.details?.function ?? null;
  const input = {
    programId: id,
    dryRun,
    edits: fix.edits as never,
    message: message ?? `${finding.code}: ${fix.title}`,
    ...(head !== null && { baseRevision: `r${head}` }),
    ...(!dryRun && { idempotencyKey: key }),
  };
  const variables = { input, function: ref, inFunction: ref !== null };
  const { data, error } = await client.mutation(VerifyFixDocument, variables).toPromise();
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
        diff: null,
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
