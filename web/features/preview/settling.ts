// How conflicts are settled: by a side, by other names, or by a text of one's own.
import type { EditInput, ResolutionInput } from '../../generated/graphql';
import type { Conflict } from './model';

/** Whose changes are taken. */
export type Side = 'OURS' | 'THEIRS';

/** Something whose text settles what collides in it. */
export interface Written {
  kind: 'function' | 'type' | 'contract' | 'storage';
  ref: string;
  path: string;
  /** The side that its text had where the sides collide. */
  take: Side;
  /** As it was given. */
  was: string;
  /** As the reader has it. */
  text: string;
}

/** What the reader has said of one conflict: a side, a text, by the ref of what it is of, or other names. */
export type Answer = { how: 'side'; take: Side } | { how: 'text'; written: string } | { how: 'names' };

/** What the reader has said of conflicts. */
export interface Choices {
  /** By the ref that a conflict is about. */
  answers: ReadonlyMap<string, Answer>;
  /** By the ref of what they are of: several conflicts may be settled by one text. */
  texts: ReadonlyMap<string, Written>;
  /** Other names, by the ref of what gets them. */
  names: ReadonlyMap<string, string>;
}

export const NO_CHOICES: Choices = { answers: new Map(), texts: new Map(), names: new Map() };

/** What was answered in dialogs that were left, by what they were about. */
const kept = new Map<string, Choices>();

/** What was answered of the same before. */
export function keptChoices(pair: string | undefined): Choices {
  return (pair === undefined ? undefined : kept.get(pair)) ?? NO_CHOICES;
}

/** Keeps what is answered, so that leaving a dialog loses nothing. */
export function keepChoices(pair: string | undefined, choices: Choices): void {
  if (pair === undefined) return;
  if (choices === NO_CHOICES) kept.delete(pair);
  else kept.set(pair, choices);
}

/** Whether there is a text that what a ref names stands in, and that can be written otherwise. A module has none of its own. */
export function isWritable(ref: string): boolean {
  return /^[dfgkntv]\d+$/.test(ref);
}

const KINDS: Record<string, string> = {
  d: 'part of a type',
  f: 'function',
  g: 'region',
  k: 'contract',
  m: 'module',
  n: 'node',
  t: 'type',
  v: 'variable',
};

/** What kind of thing a conflict is about; empty where it is about a branch. */
export function kindWord(ref: string): string {
  return /^[a-z]\d+$/.test(ref) ? (KINDS[ref[0] ?? ''] ?? '') : '';
}

/** The refs that conflicts are about, each once, with all that is said of it. */
export function conflictsByRef(conflicts: readonly Conflict[]): [ref: string, conflicts: Conflict[]][] {
  const found = new Map<string, Conflict[]>();
  for (const conflict of conflicts) found.set(conflict.ref, [...(found.get(conflict.ref) ?? []), conflict]);
  return [...found];
}

/** A conflict that says only why an answer cannot be carried out. */
function isFault({ kind }: Conflict): boolean {
  return kind === 'RESOLUTION';
}

/**
 * The conflicts that are known after another preview: what an answer has settled is told no more by the server, and stays in
 * sight, so that it can be answered otherwise.
 */
export function gathered(known: readonly Conflict[], now: readonly Conflict[]): Conflict[] {
  const plain = new Set(now.filter((conflict) => !isFault(conflict)).map(({ ref }) => ref));
  return [...known.filter((conflict) => !isFault(conflict) && !plain.has(conflict.ref)), ...now];
}

/** What can be called otherwise so that both keep their places: with the name that they would share. */
export interface Taker {
  side: Side;
  ref: string;
  name: string;
}

const RENAMES = { f: 'renameFunction', m: 'renameModule', n: 'renameNode', t: 'renameType', v: 'renameVar' } as const;

function renameOf(ref: string): (typeof RENAMES)[keyof typeof RENAMES] | undefined {
  return RENAMES[ref[0] as keyof typeof RENAMES];
}

/** The two that want one name, as the text of each side writes them first; none where one of them cannot be renamed. */
export function takersOf(conflicts: readonly Conflict[]): Taker[] {
  const taken = conflicts.find(({ kind }) => kind === 'NAME_TAKEN');
  if (!taken) return [];
  const sides = [['OURS', taken.ours] as const, ['THEIRS', taken.theirs] as const];
  const takers = sides.flatMap(([side, text]): Taker[] => {
    const [, word, name = '', ref = ''] = /(?:(\w+) )?([A-Za-z_]\w*)#([a-z]\d+)\b/.exec(text ?? '') ?? [];
    // Globals have refs like those of variables, and no edit that renames them.
    const named = ref.startsWith('v') ? word === 'var' : renameOf(ref) !== undefined;
    return named ? [{ side, ref, name }] : [];
  });
  return takers.length === 2 ? takers : [];
}

/** The function of which a side of a conflict tells the signature alone: what is in it is asked for. */
export function bodyOf(told: string | null): string | null {
  return (told?.includes('{') ? null : /\bfunc [A-Za-z_]\w*#(f\d+)\b/.exec(told ?? '')?.[1]) ?? null;
}

/** Whether an answer says enough to be sent. */
export function isAnswered(ref: string, conflicts: readonly Conflict[], choices: Choices): boolean {
  const answer = choices.answers.get(ref);
  switch (answer?.how) {
    case undefined:
      return false;
    case 'side':
      return true;
    case 'text':
      return choices.texts.has(answer.written);
    case 'names':
      return takersOf(conflicts).some((taker) => otherName(taker, choices) !== null);
  }
}

function otherName({ ref, name }: Taker, { names }: Choices): string | null {
  const given = names.get(ref)?.trim() ?? '';
  return given === '' || given === name ? null : given;
}

function editOf({ kind, ref, text }: Written): EditInput {
  const what = { ref, text };
  switch (kind) {
    case 'function':
      return { replaceFunctionText: what };
    case 'type':
      return { replaceType: what };
    case 'contract':
      return { replaceContract: what };
    case 'storage':
      return { replaceStorage: what };
  }
}

/** What is sent for what is answered of these conflicts. A text stands with the first of those that it settles. */
export function resolutionsOf(conflicts: readonly Conflict[], choices: Choices): ResolutionInput[] {
  const sent = new Set<string>();
  return conflictsByRef(conflicts).flatMap(([ref, all]): ResolutionInput[] => {
    const answer = choices.answers.get(ref);
    if (!answer || !isAnswered(ref, all, choices)) return [];
    switch (answer.how) {
      case 'side':
        return [{ ref, take: answer.take }];
      case 'text': {
        const written = choices.texts.get(answer.written);
        if (!written) return [];
        const { take } = written;
        if (sent.has(written.ref) || written.text === written.was) return [{ ref, take }];
        sent.add(written.ref);
        return [{ ref, take, edits: [editOf(written)] }];
      }
      case 'names': {
        const edits = takersOf(all).flatMap((taker): EditInput[] => {
          const name = otherName(taker, choices);
          const rename = renameOf(taker.ref);
          return name !== null && rename ? [{ [rename]: { ref: taker.ref, name } } as EditInput] : [];
        });
        return [{ ref, edits }];
      }
    }
  });
}
