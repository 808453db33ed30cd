import type { HistoryItemFragment, HistoryNamesQuery, ResolutionInput } from '../../generated/graphql';
import type { Conflict } from '../preview';

/** A revision of the timeline. */
export type Item = HistoryItemFragment;
type Names = NonNullable<HistoryNamesQuery['program']>;
/** A branch, by its name and head. */
export type Branch = NonNullable<Names['branches']>['nodes'][number];
/** A revision that has a name. */
export type Checkpoint = NonNullable<Names['checkpoints']>['nodes'][number];

/** The branch that every program has. */
export const MAIN = 'main';

/** The revisions of one branch as far as they are loaded, the newest first. */
export interface Line {
  items: readonly Item[];
  /** Where the next page begins; null at the end. */
  next: string | null;
}

/** The lines that are loaded, by branch. */
export type Lines = ReadonlyMap<string, Line>;

/** A page of a line as the server gives it. */
export interface LinePage {
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
  nodes: readonly Item[];
}

/** Adds what comes after what is loaded. */
export function lengthened(line: Line | undefined, page: LinePage): Line {
  const items = new Map(line?.items.map((item) => [item.number, item]));
  for (const item of page.nodes) items.set(item.number, item);
  return { items: [...items.values()].sort(newestFirst), next: nextOf(page) };
}

/** Puts a newer first page in the place of what it covers. What is older and was loaded stays. */
export function renewed(line: Line | undefined, page: LinePage): Line {
  const last = page.nodes.at(-1)?.number ?? 0;
  const older = page.pageInfo.hasNextPage ? (line?.items.filter(({ number }) => number < last) ?? []) : [];
  return { items: [...page.nodes, ...older], next: older.length > 0 && line ? line.next : nextOf(page) };
}

function nextOf({ pageInfo }: LinePage): string | null {
  return pageInfo.hasNextPage ? pageInfo.endCursor : null;
}

function newestFirst(a: Item, b: Item): number {
  return b.number - a.number;
}

/** The lines as one, the newest first, as far down as all of them are loaded: nothing is left out in between. */
export function merged(lines: Lines): Item[] {
  const reach = [...lines.values()].reduce(
    (most, { items, next }) => (next === null ? most : Math.max(most, items.at(-1)?.number ?? 0)),
    0,
  );
  const items = new Map<number, Item>();
  for (const [branch, line] of lines)
    for (const item of line.items)
      // What a branch tells of its own revisions is the newest: another one has them only from before it began.
      if (item.branch === branch || !items.has(item.number)) items.set(item.number, item);
  return [...items.values()].filter(({ number }) => number >= reach).sort(newestFirst);
}

/** The branches whose next page is wanted to show more: those that end first. */
export function shortest(lines: Lines): string[] {
  const open = [...lines].filter(([, { next }]) => next !== null);
  const reach = Math.max(0, ...open.map(([, { items }]) => items.at(-1)?.number ?? 0));
  return open.filter(([, { items }]) => (items.at(-1)?.number ?? 0) >= reach).map(([branch]) => branch);
}

/** More branches than these do not stand beside each other. */
const SHOWN = 12;

/** The branches that stand beside each other where none is chosen: `main`, and those that moved last. */
export function newestBranches(branches: readonly Branch[]): string[] {
  const others = branches.filter(({ name }) => name !== MAIN).sort((a, b) => b.head.number - a.head.number);
  return [MAIN, ...others.slice(0, SHOWN - 1).map(({ name }) => name)];
}

/** Whether a revision has changed what there is, and not only how something is called. */
export function movesContent({ kind }: Pick<Item, 'kind'>): boolean {
  return kind !== 'BRANCH' && kind !== 'CHECKPOINT';
}

/** A branch on which something can be taken back, or why it cannot. */
export type Place = { branch: string } | { why: string };

/**
 * Where revisions are taken back: on the branch that is looked at where all of them are on its line, or on the one that
 * they were made on.
 */
export function takenBackOn(
  revisions: readonly Pick<Item, 'number' | 'branch' | 'kind'>[],
  {
    here,
    line,
    branches,
  }: { here: string; line: ReadonlySet<number> | null; branches: readonly Pick<Branch, 'name'>[] },
): Place {
  const first = revisions.find(({ kind }) => kind === 'CREATE');
  if (first) return { why: `r${first.number} made the program: nothing was there before it` };
  const name = revisions.find((revision) => !movesContent(revision));
  if (name) return { why: `r${name.number} gave a name and changed no content` };
  if (line && revisions.every(({ number }) => line.has(number))) return { branch: here };
  const on = [...new Set(revisions.map(({ branch }) => branch))];
  if (on.length > 1) return { why: `These are on the branches ${on.join(' and ')}: one at a time is changed` };
  const [only = here] = on;
  if (!branches.some(({ name }) => name === only)) return { why: `The branch ${only} is not there any more` };
  return { branch: only };
}

/** The head of a branch: what is known of it, or what has arrived since. */
export function headOf(
  branch: string,
  known: readonly Branch[],
  arrived: readonly Pick<Item, 'number' | 'branch' | 'kind'>[],
): number | null {
  const named = known.find(({ name }) => name === branch);
  return arrived
    .filter((item) => item.branch === branch && movesContent(item))
    .reduce<number | null>((head, { number }) => Math.max(head ?? 0, number), named?.head.number ?? null);
}

/** What an undo or a redo would move: the newest revision that a branch builds on, or the first of those undone after it. */
export function movedBy(type: 'undo' | 'redo', branch: string, items: readonly Item[]): Item | null {
  const line = items.filter(
    (item) => item.branch === branch && movesContent(item) && item.kind !== 'UNDO' && item.kind !== 'REDO',
  );
  const here = line.filter(({ undone }) => !undone).reduce((most, { number }) => Math.max(most, number), 0);
  if (type === 'undo') return line.find(({ number, kind }) => number === here && kind !== 'CREATE') ?? null;
  return line.filter(({ undone, number }) => undone && number > here).at(-1) ?? null;
}

/** The names that point at revisions, by number. */
export interface Label {
  kind: 'branch' | 'checkpoint';
  name: string;
}

/** What revisions are called: heads of branches, and checkpoints. */
export function labelsByNumber(
  branches: readonly Branch[],
  checkpoints: readonly Checkpoint[],
): ReadonlyMap<number, Label[]> {
  const labels = new Map<number, Label[]>();
  const put = (number: number, label: Label) => labels.set(number, [...(labels.get(number) ?? []), label]);
  for (const { name, head } of branches) put(head.number, { kind: 'branch', name });
  for (const { name, revision } of checkpoints) if (revision) put(revision.number, { kind: 'checkpoint', name });
  return labels;
}

/** Reads the revisions of an address: `r5,r7`. */
export function selectionOf(text: string | undefined): number[] {
  const numbers = (text ?? '').split(',').map((part) => Number(part.replace(/^r/, '')));
  return [...new Set(numbers.filter((number) => Number.isInteger(number) && number > 0))].sort((a, b) => a - b);
}

/** Writes revisions for an address. */
export function selectionText(numbers: readonly number[]): string {
  return numbers.map((number) => `r${number}`).join(',');
}

/** A selection with a revision more, or without it. */
export function toggled(selection: readonly number[], number: number): number[] {
  return selection.includes(number)
    ? selection.filter((each) => each !== number)
    : [...selection, number].sort((a, b) => a - b);
}

/** What a revision did, in words, where its author left none. */
export function headline({ kind, message, checkpoint, target, branch }: Item): string {
  if (message) return message;
  const at = target ? ` r${target.number}` : '';
  switch (kind) {
    case 'UNDO':
      return `Went back to${at}`;
    case 'REDO':
      return `Went forward to${at}`;
    case 'RESTORE':
      return `Restored${at}`;
    case 'REVERT':
      return `Took back${at}`;
    case 'CHECKPOINT':
      return checkpoint ? `Checkpoint “${checkpoint}” of${at}` : 'Changed a checkpoint';
    case 'BRANCH':
      return `Branch “${branch}” from${at}`;
    case 'MERGE':
      return 'Merged a branch';
    case 'CREATE':
      return 'Made the program';
    case 'IMPORT':
      return 'Took a module in';
    case 'EDIT':
      return 'Edited without a message';
  }
}

/** What is answered of conflicts, one of them with a side, and with ours where nothing is said yet. */
export function sidesOf(
  conflicts: readonly Pick<Conflict, 'ref'>[],
  answered: readonly ResolutionInput[],
  ref: string,
  take: 'OURS' | 'THEIRS',
): ResolutionInput[] {
  const known = new Map(answered.map((resolution) => [resolution.ref, resolution]));
  const refs = new Set(conflicts.map((conflict) => conflict.ref));
  return [...refs].map((each): ResolutionInput =>
    each === ref ? { ref, take } : (known.get(each) ?? { ref: each, take: 'OURS' }),
  );
}
