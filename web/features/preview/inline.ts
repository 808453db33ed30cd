// What changed within a line of a diff, word by word.
import type { DiffLine } from './unified';

/** A part of a line, and whether the line on the other side has something else in its place. */
export interface Piece {
  text: string;
  changed: boolean;
}

/** Words with the ref behind them, numbers, blanks, and single signs. */
const WORD = /[A-Za-z_][\w.]*(?:#[a-z]\d+)?|-?\d[\w.]*(?:#[a-z]\d+)?|#[a-z]\d+|\s+|./g;
/** Longer lines than so many words are not compared. */
const LONGEST = 400;
/** Lines with less in common than this part of the longer one are two lines, and not one that changed. */
const ALIKE = 0.4;

/** A word without its ref: what has another ref and says the same is the same to the reader. */
function said(word: string | undefined): string | undefined {
  return word?.replace(/#[a-z]\d+$/, '');
}

function pieces(words: readonly string[], common: ReadonlySet<number>): Piece[] {
  const made: Piece[] = [];
  words.forEach((text, at) => {
    // A blank between two words that changed belongs to them.
    const blank = /^\s+$/.test(text) && at > 0 && at < words.length - 1;
    const changed = blank ? !common.has(at - 1) && !common.has(at + 1) : !common.has(at);
    const last = made.at(-1);
    if (last?.changed === changed) last.text += text;
    else made.push({ text, changed });
  });
  return made;
}

/** Compares two lines by their longest common subsequence of words; null where they have too little in common. */
export function compared(was: string, is: string): [was: Piece[], is: Piece[]] | null {
  const a = was.match(WORD) ?? [];
  const b = is.match(WORD) ?? [];
  if (a.length > LONGEST || b.length > LONGEST) return null;
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  const at = (i: number, j: number) => longest[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      longest[i]![j] = said(a[i]) === said(b[j]) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const inA = new Set<number>();
  const inB = new Set<number>();
  for (let i = 0, j = 0; i < a.length && j < b.length;)
    if (said(a[i]) === said(b[j])) {
      inA.add(i++);
      inB.add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  const letters = (words: readonly string[], kept: ReadonlySet<number>) =>
    words.reduce((sum, word, at) => (kept.has(at) && word.trim() !== '' ? sum + word.length : sum), 0);
  const whole = Math.max(was.replaceAll(/\s/g, '').length, is.replaceAll(/\s/g, '').length);
  return letters(a, inA) < ALIKE * whole ? null : [pieces(a, inA), pieces(b, inB)];
}

/** The lines of a diff that changed, by their place in it, cut at what changed in them. */
export function changedWithin(lines: readonly DiffLine[]): ReadonlyMap<number, readonly Piece[]> {
  const found = new Map<number, readonly Piece[]>();
  const run = (from: number, kind: DiffLine['kind']) => {
    let end = from;
    while (lines[end]?.kind === kind) end += 1;
    return end;
  };
  for (let at = 0; at < lines.length;) {
    const removed = run(at, 'removed');
    const added = run(removed, 'added');
    // Lines that go stand in front of those in their place, each with its own.
    for (let of = 0; of < Math.min(removed - at, added - removed); of += 1) {
      const both = compared(lines[at + of]?.text ?? '', lines[removed + of]?.text ?? '');
      if (!both) continue;
      found.set(at + of, both[0]);
      found.set(removed + of, both[1]);
    }
    at = Math.max(added, at + 1);
  }
  return found;
}
