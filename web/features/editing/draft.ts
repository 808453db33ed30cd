// What a reader has typed, kept in the tab until it is applied or given up.

/** What a draft was made from. */
export interface Base {
  revision: number | null;
  /** The content hash of the function: another one now is a conflict. */
  hash: string;
  text: string;
}

/** A text that is being written. */
export interface Draft {
  text: string;
  base: Base;
}

function isBase(value: unknown): value is Base {
  if (typeof value !== 'object' || value === null) return false;
  const { revision, hash, text } = value as Record<string, unknown>;
  return (revision === null || typeof revision === 'number') && typeof hash === 'string' && typeof text === 'string';
}

/** The draft that a text of the storage tells of; null for what is malformed. */
export function readDraft(text: string | null): Draft | null {
  try {
    const found: unknown = JSON.parse(text ?? 'null');
    if (typeof found !== 'object' || found === null) return null;
    const { text: typed, base } = found as Record<string, unknown>;
    return typeof typed === 'string' && isBase(base) ? { text: typed, base } : null;
  } catch {
    return null;
  }
}

function keyOf(program: string, ref: string): string {
  return `lmlang.draft.${program}.${ref}`;
}

/** The draft of a function in this tab. */
export function keptDraft(program: string, ref: string): Draft | null {
  try {
    return readDraft(sessionStorage.getItem(keyOf(program, ref)));
  } catch {
    return null;
  }
}

/** Keeps a draft; one that says what its base says is none. */
export function keepDraft(program: string, ref: string, draft: Draft): void {
  try {
    const key = keyOf(program, ref);
    if (draft.text === draft.base.text) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // What is typed is in the page still.
  }
}

/** The place of a line and a column, both from 1, in a text. */
export function offsetAt(text: string, line: number, column: number): number {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const next = text.indexOf('\n', start);
    if (next < 0) return text.length;
    start = next + 1;
  }
  const end = text.indexOf('\n', start);
  return Math.min(start + column - 1, end < 0 ? text.length : end);
}

/** The line and column of a place in a text, both from 1. */
export function placeAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
