// What can be done to a branch, and how it is asked for: each tried first, on the head that was seen.
import type { AnyVariables, OperationResult, TypedDocumentNode } from '@urql/core';
import type { Client } from 'urql';

import {
  HistoryDiffDocument,
  HistoryDiffPartDocument,
  HistoryFindingsDocument,
  HistoryMergeDocument,
  HistoryMergePartDocument,
  HistoryMergeTextDocument,
  type HistoryMergeTextMutation,
  HistoryRedoDocument,
  HistoryRedoPartDocument,
  HistoryRestoreDocument,
  HistoryRestorePartDocument,
  HistoryCheckpointDocument,
  HistoryRevertDocument,
  HistoryRevertPartDocument,
  HistoryUndoDocument,
  HistoryUndoPartDocument,
  type MovedFragment,
  type MovedPartFragment,
} from '../../generated/graphql';
import { problemOf } from '../../lib/problems';
import { plainText } from '../../lib/text';
import {
  without,
  type AskPart,
  type Asking,
  type Conflict,
  type Finding,
  type Part,
  type Preview,
  type Written,
} from '../preview';
import { sidesOf } from './model';

/** What is taken back together: revisions, all by an author, or all of a run. */
export type Reverted = { revisions: readonly number[] } | { author: string } | { runId: string };

/** A change of where a branch stands. */
export type Action =
  | { type: 'undo' | 'redo'; branch: string }
  | { type: 'revert'; branch: string; of: Reverted }
  | { type: 'restore'; branch: string; to: number; checkpoint: string | null }
  | { type: 'merge'; branch: string; from: string };

function whatOf(of: Reverted): string {
  if ('author' in of) return `all by ${of.author}`;
  if ('runId' in of) return `all of the run ${of.runId}`;
  return of.revisions.map((number) => `r${number}`).join(', ');
}

/** What an action is called, on a button and above its preview. */
export function wordsOf(action: Action): { title: string; verb: string } {
  switch (action.type) {
    case 'undo':
      return { title: 'Undo the last change', verb: 'Undo' };
    case 'redo':
      return { title: 'Redo what was undone last', verb: 'Redo' };
    case 'revert': {
      return { title: `Take back ${whatOf(action.of)}, keep the rest`, verb: 'Take back' };
    }
    case 'restore':
      return { title: `Restore ${action.checkpoint ?? `r${action.to}`}`, verb: 'Restore' };
    case 'merge':
      return { title: `Merge ${action.from}`, verb: 'Merge' };
  }
}

type Base = { programId: string; branch: string } & ReturnType<typeof commonOf>;

function commonOf({ dryRun, head, message, key }: Asking) {
  return {
    dryRun,
    ...(head !== null && { expectedHead: `r${head}` }),
    ...(message !== null && { message }),
    // A plan is no answer to keep: asked for again it is worked out again.
    ...(!dryRun && { idempotencyKey: key }),
  };
}

async function answerOf<Data, Variables extends AnyVariables>(
  client: Client,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const result: OperationResult<Data, Variables> = await client.mutation(document, variables).toPromise();
  if (result.error || !result.data) throw result.error;
  return result.data;
}

/** A payload that came without an error is there. */
function there<Payload>(payload: Payload | null): Payload {
  if (payload === null) throw new Error('the answer has no payload');
  return payload;
}

/** Asks for parts of what an action would change: it is tried again for each. */
function partsOf<Input>(
  client: Client,
  document: TypedDocumentNode<
    { moved: { outcome: MovedPartFragment } | null },
    Part & { input: Input } & Record<string, unknown>
  >,
  input: Input,
): AskPart {
  return async (part) => {
    const { moved } = await answerOf(client, document, { ...part, input: { ...input, dryRun: true } });
    const { outcome } = there(moved);
    return outcome.__typename === 'RevisionMade' ? outcome.diff : null;
  };
}

/** Asks for parts of how two revisions differ. */
export function partsBetween(client: Client, id: string, from: string, to: string): AskPart {
  return async (part) => {
    const { data, error } = await client.query(HistoryDiffPartDocument, { id, from, to, ...part }).toPromise();
    if (error) throw error;
    return data?.program?.diff ?? null;
  };
}

async function findingsAt(client: Client, id: string, head: number | null): Promise<readonly Finding[]> {
  if (head === null) return [];
  const { data } = await client.query(HistoryFindingsDocument, { id, at: `r${head}` }).toPromise();
  return data?.program?.diagnostics?.nodes ?? [];
}

async function previewOf(
  client: Client,
  id: string,
  head: number | null,
  outcome: MovedFragment,
  ask: AskPart,
): Promise<Preview> {
  switch (outcome.__typename) {
    case 'NothingToDo':
      return { state: 'nothing', reason: outcome.reason };
    case 'EditConflict':
      return {
        state: 'conflict',
        base: outcome.base?.number ?? null,
        head: outcome.head?.number ?? null,
        conflicts: outcome.conflicts,
      };
    case 'RevisionMade': {
      const before = await findingsAt(client, id, head);
      const after = outcome.program.diagnostics?.nodes ?? [];
      return {
        state: 'made',
        revision: outcome.revision?.number ?? null,
        difference: { programId: id, diff: outcome.diff, ask },
        newFindings: without(after, before),
        resolved: without(before, after),
        remaining: outcome.program.diagnostics?.totalCount ?? null,
        plan: null,
        rebasedOver: [],
        note: null,
      };
    }
  }
}

/** Goes back to a revision that the branch's own line does not have: by a checkpoint, which only then is made. */
async function restoreElsewhere(client: Client, base: Base, to: number, asking: Asking): Promise<Preview> {
  const { programId: id } = base;
  const name = `restored-r${to}-at-r${asking.head ?? 0}`;
  if (asking.dryRun) {
    const [from, until] = [`r${asking.head}`, `r${to}`];
    const { data, error } = await client.query(HistoryDiffDocument, { id, from, to: until }).toPromise();
    const diff = data?.program?.diff;
    if (!diff) throw error;
    const [before, after] = await Promise.all([findingsAt(client, id, asking.head), findingsAt(client, id, to)]);
    return {
      state: 'made',
      revision: null,
      difference: { programId: id, diff, ask: partsBetween(client, id, from, until) },
      newFindings: without(after, before),
      resolved: without(before, after),
      remaining: after.length,
      plan: null,
      rebasedOver: [],
      note: `r${to} is not on the line of ${base.branch}: a checkpoint “${name}” is made of it and restored.`,
    };
  }
  const key = `${asking.key}-name`;
  await answerOf(client, HistoryCheckpointDocument, {
    input: { programId: id, name, at: `r${to}`, idempotencyKey: key },
  });
  const input = { ...base, name };
  const { moved } = await answerOf(client, HistoryRestoreDocument, { input });
  const parts = partsOf(client, HistoryRestorePartDocument, input);
  return await previewOf(client, id, asking.head, there(moved).outcome, parts);
}

async function asked(client: Client, id: string, action: Action, asking: Asking): Promise<Preview> {
  const base: Base = { programId: id, branch: action.branch, ...commonOf(asking) };
  const told = (moved: { outcome: MovedFragment } | null, ask: AskPart) =>
    previewOf(client, id, asking.head, there(moved).outcome, ask);
  switch (action.type) {
    case 'undo':
      return await told(
        (await answerOf(client, HistoryUndoDocument, { input: base })).moved,
        partsOf(client, HistoryUndoPartDocument, base),
      );
    case 'redo':
      return await told(
        (await answerOf(client, HistoryRedoDocument, { input: base })).moved,
        partsOf(client, HistoryRedoPartDocument, base),
      );
    case 'revert': {
      const { of } = action;
      const what = 'revisions' in of ? { revisions: of.revisions.map((number) => `r${number}`) } : of;
      const input = { ...base, ...what };
      const { moved } = await answerOf(client, HistoryRevertDocument, { input });
      const { removed, alsoRemoved, kept } = there(moved);
      const preview = await told(moved, partsOf(client, HistoryRevertPartDocument, input));
      return preview.state === 'made' ? { ...preview, plan: { removed, alsoRemoved, kept } } : preview;
    }
    case 'restore': {
      if (action.checkpoint !== null) {
        const input = { ...base, name: action.checkpoint };
        const { moved } = await answerOf(client, HistoryRestoreDocument, { input });
        return await told(moved, partsOf(client, HistoryRestorePartDocument, input));
      }
      const input = { ...base, to: `r${action.to}` };
      const { moved } = await answerOf(client, HistoryUndoDocument, { input });
      // Undoing leads along the line alone, and nowhere from where the branch stands.
      if (there(moved).outcome.__typename !== 'NothingToDo' || action.to === asking.head)
        return await told(moved, partsOf(client, HistoryUndoPartDocument, input));
      return await restoreElsewhere(client, base, action.to, asking);
    }
    case 'merge': {
      const { branch: into, ...rest } = base;
      const input = { ...rest, into, from: action.from, resolutions: [...asking.resolutions] };
      const { moved } = await answerOf(client, HistoryMergeDocument, { input });
      return await told(moved, partsOf(client, HistoryMergePartDocument, input));
    }
  }
}

/** Tries an action or does it; whatever goes wrong is told, not thrown. */
export async function ask(client: Client, id: string, action: Action, asking: Asking): Promise<Preview> {
  try {
    return await asked(client, id, action, asking);
  } catch (error) {
    return { state: 'failed', problem: problemOf(error) };
  }
}

type Merged = Extract<
  NonNullable<NonNullable<HistoryMergeTextMutation['merge']>['outcome']>,
  { __typename: 'RevisionMade' }
>['program'];

/** What has the text in which something collides: itself, or what it is in. */
function writtenIn(program: Merged, ref: string): Pick<Written, 'kind' | 'ref' | 'path' | 'was'> | null {
  const { computeNode, function: itself, types, storage, impact } = program;
  const contract = impact?.contracts.find((each) => each.ref === ref);
  if (contract?.text) return { kind: 'contract', ref, path: contract.region.owner.path, was: contract.text };
  const type = types?.nodes.find((each) => [each, ...each.fields, ...each.variants].some((part) => part.ref === ref));
  if (type?.text) return { kind: 'type', ref: type.ref, path: type.path, was: type.text };
  const held = storage?.nodes.find((each) => each.ref === ref);
  if (held?.text) return { kind: 'storage', ref, path: held.path, was: held.text };
  // What is in a function concerns that one first.
  const owner = computeNode?.owner ?? itself ?? impact?.functions?.nodes[0];
  return owner?.text ? { kind: 'function', ref: owner.ref, path: owner.path, was: owner.text } : null;
}

/** The text in which a merge collides, as it would leave that with one side where both collide; or why there is none. */
export async function textOf(
  client: Client,
  id: string,
  action: Action,
  ref: string,
  conflicts: readonly Conflict[],
  asking: Asking,
): Promise<Written | string> {
  if (action.type !== 'merge') return 'Only a merge is settled by a text.';
  const base = { programId: id, into: action.branch, from: action.from, ...commonOf(asking) };
  const asked = {
    ref,
    node: /^n/.test(ref),
    function: /^f/.test(ref),
    types: /^[dt]/.test(ref),
    storage: /^v/.test(ref),
    inner: /^[gkv]/.test(ref),
  };
  try {
    // Where one side has removed it, the other one has its text.
    for (const take of ['OURS', 'THEIRS'] as const) {
      const resolutions = sidesOf(conflicts, asking.resolutions, ref, take);
      const variables = { ...asked, input: { ...base, resolutions } };
      // A removed entity is an error beside what else there is.
      const { data, error } = await client.mutation(HistoryMergeTextDocument, variables).toPromise();
      const outcome = data?.merge?.outcome;
      if (!outcome) throw error;
      if (outcome.__typename !== 'RevisionMade') continue;
      const found = writtenIn(outcome.program, ref);
      if (!found) continue;
      const text = plainText(found.was);
      return { ...found, take, was: text, text };
    }
  } catch (error) {
    const { code, message } = problemOf(error);
    return `${code} · ${message}`;
  }
  return 'There is no text of it while others collide: settle those first, or take a side.';
}
