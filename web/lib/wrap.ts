// Lines of code in a narrow place, cut into rows: every character is as wide as the next, so that this needs no layout.
import type { Word } from './text';

/** How much deeper the rows below the first one begin, in characters. */
const DEEPER = 4;

/** A line as it is shown: its first row, then the others, which all begin at the same place. */
export interface Wrapped {
  rows: Word[][];
  /** Where the rows below the first one begin, in characters. */
  indent: number;
}

const SPACE = /^\s*$/;

/** The words of a line, cut at their blanks, which stay at the end of what they follow. */
function partsOf(words: readonly Word[]): Word[] {
  return words.flatMap((word) => {
    const parts = word.ref === null || /\s/.test(word.text) ? (word.text.match(/\s*\S+\s*|\s+/g) ?? []) : [word.text];
    return parts.map((text) => ({ ...word, text }));
  });
}

/** How long what begins with a part is up to the next blank. */
function lengthUntilBlank(parts: readonly Word[], from: number): number {
  let length = 0;
  for (const { text } of parts.slice(from)) {
    if (length > 0 && /^\s/.test(text)) break;
    length += text.trimEnd().length;
    if (/\s$/.test(text)) break;
  }
  return length;
}

/** Cuts a line into rows of so many characters. What is longer than a row itself is cut where the row ends. */
export function wrapped(words: readonly Word[], columns: number): Wrapped {
  const length = words.reduce((sum, { text }) => sum + text.length, 0);
  if (length <= columns) return { rows: [[...words]], indent: 0 };
  const begin = /^\s*/.exec(words.map(({ text }) => text).join(''))?.[0].length ?? 0;
  // A line that is deep itself does not leave its rows without room.
  const indent = Math.min(begin + DEEPER, Math.floor(columns / 2));
  const rows: Word[][] = [[]];
  let left = columns;
  const next = () => {
    rows.push([]);
    left = Math.max(1, columns - indent);
  };
  const parts = partsOf(words);
  let whole = true;
  parts.forEach((part, at) => {
    const begun = rows.at(-1)?.some(({ text }) => !SPACE.test(text)) ?? false;
    const together = lengthUntilBlank(parts, at);
    // A comma stays with what stands before it, unless that is longer than a row. Blanks at the end take no room.
    if (begun && ((whole && together > left && together <= columns - indent) || part.text.trimEnd().length > left))
      next();
    whole = /\s$/.test(part.text);
    let { text } = part;
    while (text.trimEnd().length > left) {
      rows.at(-1)?.push({ ...part, text: text.slice(0, left) });
      text = text.slice(left);
      next();
    }
    rows.at(-1)?.push({ ...part, text });
    left -= text.length;
  });
  return { rows, indent };
}

/** Where each line begins, in rows from the top, and behind the last one where all of them end. */
export function topsOf(lines: readonly Wrapped[]): number[] {
  const tops = [0];
  for (const { rows } of lines) tops.push((tops.at(-1) ?? 0) + rows.length);
  return tops;
}

/** The line that a row from the top is in. */
export function lineAt(tops: readonly number[], row: number): number {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((tops[middle] ?? 0) <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}
