import type {
  ChangedFunctionsFragment,
  ConflictFactsFragment,
  DiffFactsFragment,
  DiffPartFragment,
  PlannedFindingFragment,
} from '../../generated/graphql';
import type { Problem } from '../../lib/problems';

/** How two states of a program differ. */
export type Diff = DiffFactsFragment;
/** A function in which something differs, and the cursor behind which it stands. */
export type FunctionChange = ChangedFunctionsFragment['nodes'][number] & { behind: string | null };
/** Which part of a difference is asked for: functions behind a cursor, or the first of them whole, from these nodes and regions on. */
export type Part = { after: string | null } & (
  { first: number } | { whole: true; nodes: string | null; regions: string | null }
);
/** Asks for a part of a difference; null where it is not there any more: the head has moved, or a question was answered. */
export type AskPart = (part: Part) => Promise<DiffPartFragment | null>;
/** Why a part of a difference is not there any more. */
export const MOVED_ON: Problem = {
  code: 'CONFLICT',
  message: 'what would change is not what it was',
  action: 'Somebody has changed the program meanwhile. Look at it again as it is now.',
};
/** How a difference is shown. */
export type Shown = 'structure' | 'text' | 'graph';
/** A difference, of which more can be asked for. */
export interface Difference {
  programId: string;
  diff: Diff;
  ask: AskPart;
  /** How it is shown at first; without it by its structure. */
  first?: Shown;
}
/** What cannot be both. */
export type Conflict = ConflictFactsFragment['conflicts'][number];
/** A finding of the verifier. */
export type Finding = PlannedFindingFragment;

/** A revision as a plan names it. */
export interface Named {
  number: number;
  message: string | null;
  actor: { name: string; kind: string };
}

/** What a change comes to, or would come to. */
export type Preview =
  | {
      state: 'made';
      /** The revision that it made; null for what was only tried. */
      revision: number | null;
      /** What differs; null where nobody looks at it any more. */
      difference: Difference | null;
      /** Findings that are there after it and were not before. */
      newFindings: readonly Finding[];
      /** Findings that are gone after it; null where that is not told. */
      resolved: readonly Finding[] | null;
      /** How many findings there are after it; null where that is not told. */
      remaining: number | null;
      /** What goes, what has to go with it, and what stays: of a revert. */
      plan: { removed: readonly Named[]; alsoRemoved: readonly Named[]; kept: readonly Named[] } | null;
      /** Revisions since the base that it was carried over. */
      rebasedOver: readonly Named[];
      /** What is done beside it, in words. */
      note: string | null;
    }
  | { state: 'nothing'; reason: string }
  | { state: 'conflict'; base: number | null; head: number | null; conflicts: readonly Conflict[] }
  | { state: 'rejected'; errors: readonly { code: string; message: string }[] }
  | { state: 'failed'; problem: Problem };

/** Whether two states of a program do not differ. */
export function isSame({ changed: { added, removed, modified } }: Pick<Diff, 'changed'>): boolean {
  return added + removed + modified === 0;
}

/** Whether there is nothing in it that could be done. */
export function isVoid({ state }: Preview): boolean {
  return state === 'nothing' || state === 'rejected';
}

/** What a finding is told apart by: findings have no names. */
export function findingKey({ code, message, details }: Finding): string {
  return JSON.stringify([code, message, details?.function, details?.node, details?.port, details?.text]);
}

/** The findings that are in one list and not in another. */
export function without(findings: readonly Finding[], others: readonly Finding[]): Finding[] {
  const known = new Set(others.map(findingKey));
  return findings.filter((finding) => !known.has(findingKey(finding)));
}

/** Whether what was seen when a change was previewed is not the newest any more. */
export function isStale(seen: number | null, head: number | null): boolean {
  return seen !== null && head !== null && head > seen;
}
