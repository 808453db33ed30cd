// Unified diffs of the text form: read, looked up by ref, and made of two texts.

/** A line of a diff; numbers are those of the line on either side, from 1. */
export interface DiffLine {
  kind: 'added' | 'removed' | 'same' | 'hunk';
  text: string;
  before: number | null;
  after: number | null;
}

/** What differs in one function, type or module. */
export interface DiffFile {
  /** Its path as it is; as it was, if it is gone. */
  path: string;
  change: 'ADDED' | 'REMOVED' | 'MODIFIED';
  lines: DiffLine[];
  added: number;
  removed: number;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const NOWHERE = '/dev/null';
/** How the server ends a text that is longer than was asked for. */
const CUT = /\n\.\.\. cut off: [^\n]*\n?$/;

/** Whether the server left out the end of a diff. */
export function isCut(diff: string): boolean {
  return CUT.test(diff);
}

/**
 * Reads a unified diff; of one that was cut off, what came before. The lines of a hunk are counted, since a text may have
 * lines that look like a head.
 */
export function filesOf(diff: string): DiffFile[] {
  const files: DiffFile[] = [];
  let was = '';
  let before = 0;
  let after = 0;
  let left = { before: 0, after: 0 };
  for (const line of diff.replace(CUT, '').split('\n')) {
    const file = files.at(-1);
    if (file && (left.before > 0 || left.after > 0)) {
      const sign = line[0];
      const text = line.slice(1);
      if (sign === '+') {
        file.lines.push({ kind: 'added', text, before: null, after: after++ });
        file.added += 1;
        left.after -= 1;
      } else if (sign === '-') {
        file.lines.push({ kind: 'removed', text, before: before++, after: null });
        file.removed += 1;
        left.before -= 1;
      } else if (sign !== '\\') {
        file.lines.push({ kind: 'same', text, before: before++, after: after++ });
        left = { before: left.before - 1, after: left.after - 1 };
      }
      continue;
    }
    if (line.startsWith('--- ')) was = line.slice(4);
    else if (line.startsWith('+++ ')) {
      const is = line.slice(4);
      const change = is === NOWHERE ? 'REMOVED' : was === NOWHERE ? 'ADDED' : 'MODIFIED';
      files.push({ path: is === NOWHERE ? was : is, change, lines: [], added: 0, removed: 0 });
    } else {
      const hunk = HUNK.exec(line);
      if (!hunk || !file) continue;
      before = Number(hunk[1]);
      after = Number(hunk[3]);
      left = { before: Number(hunk[2] ?? 1), after: Number(hunk[4] ?? 1) };
      file.lines.push({ kind: 'hunk', text: line, before: null, after: null });
    }
  }
  return files;
}

/** The first lines of a diff, of whatever they are. */
export function firstLines(files: readonly DiffFile[], count: number): DiffFile[] {
  const first: DiffFile[] = [];
  let left = count;
  for (const file of files) {
    if (left <= 0) break;
    first.push({ ...file, lines: file.lines.slice(0, left) });
    left -= file.lines.length;
  }
  return first;
}

/** What a diff that is of no function is of, as its lines tell. Fields and variants are only in types. */
export function kindOf({ lines }: DiffFile): 'type' | 'storage' | 'module' | null {
  const texts = lines.flatMap(({ kind, text }) => (kind === 'hunk' ? [] : [text.trim()]));
  if (texts.some((text) => /^(?:pub )?type |^\w+#d\d+\b/.test(text))) return 'type';
  if (texts.some((text) => /^(?:pub |export |import )*(?:global|memory|table|data|elem|custom)\b/.test(text)))
    return 'storage';
  return texts.some((text) => /^(?:pub )?module /.test(text)) ? 'module' : null;
}

/** What an entity looks like on either side; null where a diff does not show it. */
export interface Looks {
  before: string | null;
  after: string | null;
}

const REF = /([^\s(){},]*)#([a-z]\d+)\b(?: = (\S+))?/g;
const OWN = /(?:^|[\s{])(n\d+) = (\S+)/g;

/** How the lines of a diff show the entities that are written in them, in few words. */
export function looksByRef(files: readonly DiffFile[]): Map<string, Looks> {
  const found = new Map<string, Looks>();
  const see = (ref: string, side: keyof Looks, look: string) => {
    const looks = found.get(ref) ?? { before: null, after: null };
    if (looks[side] === null) found.set(ref, { ...looks, [side]: look });
  };
  for (const { lines } of files)
    for (const { kind, text } of lines) {
      if (kind === 'hunk') continue;
      const sides: (keyof Looks)[] = kind === 'same' ? ['before', 'after'] : [kind === 'added' ? 'after' : 'before'];
      for (const side of sides) {
        for (const [, word = '', ref = '', op] of text.matchAll(REF)) see(ref, side, op ? `${word} = ${op}` : word);
        for (const [, ref = '', op = ''] of text.matchAll(OWN)) see(ref, side, op);
      }
    }
  return found;
}

/** More lines that differ than these are not compared: they are told as a whole. */
const COMPARED = 2_000;
/** Lines around what differs. */
const AROUND = 3;

/** The diff of two texts of one thing, by their longest common subsequence of lines. */
export function fileOf(path: string, was: string, is: string): DiffFile {
  const a = was.trimEnd().split('\n');
  const b = is.trimEnd().split('\n');
  const steps = stepsOf(a, b);
  const kept = steps.map((_, at) =>
    steps.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((s) => s.kind !== 'same'),
  );
  const lines: DiffLine[] = [];
  steps.forEach((step, at) => {
    if (!kept[at]) return;
    if (at > 0 && !kept[at - 1]) lines.push({ kind: 'hunk', text: '…', before: null, after: null });
    lines.push(step);
  });
  const count = (kind: DiffLine['kind']) => steps.filter((step) => step.kind === kind).length;
  return { path, change: 'MODIFIED', lines, added: count('added'), removed: count('removed') };
}

function stepsOf(a: readonly string[], b: readonly string[]): DiffLine[] {
  const steps: DiffLine[] = [];
  const add = (kind: DiffLine['kind'], i: number, j: number) =>
    steps.push({
      kind,
      text: (kind === 'added' ? b[j] : a[i]) ?? '',
      before: kind === 'added' ? null : i + 1,
      after: kind === 'removed' ? null : j + 1,
    });
  // What both begin and end with is the same, however long: a change is small in most texts.
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const lastA = a.length - end;
  const lastB = b.length - end;

  for (let at = 0; at < start; at += 1) add('same', at, at);
  if (lastA - start > COMPARED || lastB - start > COMPARED) {
    for (let i = start; i < lastA; i += 1) add('removed', i, start);
    for (let j = start; j < lastB; j += 1) add('added', lastA, j);
  } else {
    // longest[i][j]: how many lines of what differs `a` from i and `b` from j have in common.
    const longest = Array.from({ length: lastA - start + 1 }, () => new Uint16Array(lastB - start + 1));
    const common = (i: number, j: number) => longest[i - start]?.[j - start] ?? 0;
    for (let i = lastA - 1; i >= start; i -= 1)
      for (let j = lastB - 1; j >= start; j -= 1) {
        const row = longest[i - start];
        if (row)
          row[j - start] = a[i] === b[j] ? common(i + 1, j + 1) + 1 : Math.max(common(i + 1, j), common(i, j + 1));
      }
    let i = start;
    let j = start;
    while (i < lastA || j < lastB)
      if (i < lastA && j < lastB && a[i] === b[j]) add('same', i++, j++);
      else if (j >= lastB || (i < lastA && common(i + 1, j) >= common(i, j + 1))) add('removed', i++, j);
      else add('added', i, j++);
  }
  for (let at = 0; at < end; at += 1) add('same', lastA + at, lastB + at);
  return steps;
}
