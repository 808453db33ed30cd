// Repairs that the server works out, tried and done as edits on the revision that they are about.
import type { Client } from 'urql';

import { VerifyFixesDocument, VerifyProgramFixesDocument, type EditInput } from '../../generated/graphql';
import { problemOf, type Problem } from '../../lib/problems';
import { withoutRefs } from '../../lib/text';
import { findingKey, proposed, type Asking, type Finding, type Preview } from '../preview';

/** A repair of a finding. */
export interface Fix {
  title: string;
  /** A list of edits, as the server gave it: it is sent as it stands. */
  edits: unknown;
}

/** The repairs of a finding. */
export interface Fixes {
  /** The revision that they are about. */
  at: string | null;
  fixes: readonly Fix[];
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
    return { at, fixes: found(data.program.diagnostics?.nodes) };
  }
  const { data, error } = await client.query(VerifyFixesDocument, { id, at, function: ref }).toPromise();
  const owner = data?.program?.function;
  if (!owner) return problemOf(error);
  const named = { ...owner, text: owner.text ?? '', params: owner.params.map(({ name }) => name) };
  const fixes = found(owner.diagnostics?.nodes).map((fix) => ({ ...fix, title: withoutRefs(fix.title, named) }));
  return { at, fixes };
}

/** Tries a repair or does it. */
export async function applyFix(
  client: Client,
  id: string,
  { fix, finding }: { fix: Fix; finding: Finding },
  asking: Asking,
): Promise<Preview> {
  const edits = fix.edits as EditInput[];
  return await proposed(client, id, { edits, message: `${finding.code}: ${fix.title}` }, asking);
}
