import type { EditInput, EditProposeMutation } from '../../generated/graphql';
import type { Problem } from '../../lib/problems';
import { counted } from '../../ui';

/** What became of edits, as the API tells it. */
export type Outcome = NonNullable<EditProposeMutation['proposeEdit']>['outcome'];
/** An error of an edit. */
export type Mistake = Extract<Outcome, { __typename: 'EditRejected' }>['errors'][number];

/** Edits on a base. */
export interface Proposal {
  edits: EditInput[];
  baseRevision: string | null;
}

/** How a try stands. */
export type Tried =
  | { state: 'idle' }
  | { state: 'trying'; last: Outcome | null }
  | { state: 'done'; outcome: Outcome }
  | { state: 'failed'; problem: Problem };

/** The base of a proposal on a revision. */
export function baseOf(revision: number | null): string | null {
  return revision === null ? null : `r${revision}`;
}

/** A text that shows what can be written. */
export const STARTER = `module numbers

; Twice a number.
pub func twice (x: i64) -> (i64) pure {
  return (mul.i64 x, 2)
}
`;

/** The edit that adds what is written to a module, or to those that the text names; null where nothing is written. */
export function addOf(text: string, module: string, revision: number | null): Proposal | null {
  if (text.trim() === '') return null;
  return { edits: [{ addText: { text, ...(module !== '' && { module }) } }], baseRevision: baseOf(revision) };
}

/** What is wrong with what is written, as far as it is known: that of the text before stays until it is tried. */
export function mistakesOf(tried: Tried): readonly Mistake[] {
  const outcome = tried.state === 'done' ? tried.outcome : tried.state === 'trying' ? tried.last : null;
  return outcome?.__typename === 'EditRejected' ? outcome.errors : [];
}

/** The places of a text that mistakes are at. */
export function marksOf(mistakes: readonly Mistake[]): { line: number; column: number | null; length: number }[] {
  return mistakes.flatMap(({ line, column, found }) =>
    line === null ? [] : [{ line, column, length: found?.length ?? 1 }],
  );
}

/** The edit that gives something another name; null where what is typed is none. */
export function renameOf(
  what: 'function' | 'node',
  entity: string,
  name: string,
  typed: string,
  revision: number | null,
): Proposal | null {
  const wanted = typed.trim();
  if (wanted === '' || wanted === name) return null;
  const rename = { ref: entity, name: wanted };
  return {
    edits: [what === 'function' ? { renameFunction: rename } : { renameNode: rename }],
    baseRevision: baseOf(revision),
  };
}

/** Whether another name was tried as it is typed, and can be given: it brings no errors. */
export function canRename(tried: Tried, applying: boolean): boolean {
  return (
    !applying &&
    tried.state === 'done' &&
    tried.outcome.__typename === 'EditApplied' &&
    tried.outcome.diagnosticsAdded.every(({ severity }) => severity !== 'ERROR')
  );
}

/** Why what is written cannot be applied now; null when it can. */
export function whyNot(state: { dirty: boolean; stale: boolean; applying: boolean; tried: Tried }): string | null {
  const { dirty, stale, applying, tried } = state;
  if (applying) return 'It is being applied.';
  if (!dirty) return 'Nothing is changed yet.';
  if (stale) return 'The function has changed meanwhile: choose above what stays.';
  switch (tried.state) {
    case 'idle':
    case 'trying':
      return 'It is being tried.';
    case 'failed':
      return 'It could not be tried.';
    case 'done':
      return whyNotOf(tried.outcome);
  }
}

function whyNotOf(outcome: Outcome): string | null {
  switch (outcome.__typename) {
    case 'EditRejected':
      return `${counted(outcome.errors.length + outcome.suppressed, 'mistake is', 'mistakes are')} left.`;
    case 'EditConflict':
      return 'The function has changed meanwhile: choose above what stays.';
    case 'EditApplied': {
      const { added, modified, removed } = outcome.changed;
      return added + modified + removed === 0 ? 'The text says what is there already.' : null;
    }
  }
}
