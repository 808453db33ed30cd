// How two texts differ, line by line.

/** A line of a comparison, with its number in the text that has it. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
  /** The number before, from 1; null for a line that is new. */
  before: number | null;
  /** The number after, from 1; null for a line that is gone. */
  after: number | null;
}

/** Above so many pairs of lines the part that differs is shown as a whole, since comparing them would take long. */
const PAIRS = 4_000_000;

/** Compares two texts: the longest common subsequence of their lines (Wagner and Fischer, 1974). */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;

  const lines: DiffLine[] = [];
  const same = (at: number, to: number) =>
    lines.push({ kind: 'same', text: a[at] ?? '', before: at + 1, after: to + 1 });
  const removed = (at: number) => lines.push({ kind: 'removed', text: a[at] ?? '', before: at + 1, after: null });
  const added = (at: number) => lines.push({ kind: 'added', text: b[at] ?? '', before: null, after: at + 1 });

  for (let at = 0; at < start; at += 1) same(at, at);
  const rows = a.length - start - end;
  const columns = b.length - start - end;
  if (rows * columns > PAIRS) {
    for (let at = 0; at < rows; at += 1) removed(start + at);
    for (let at = 0; at < columns; at += 1) added(start + at);
  } else {
    const width = columns + 1;
    const common = new Uint16Array((rows + 1) * width);
    const longest = (i: number, j: number) => common[i * width + j] ?? 0;
    for (let i = rows - 1; i >= 0; i -= 1)
      for (let j = columns - 1; j >= 0; j -= 1)
        common[i * width + j] =
          a[start + i] === b[start + j] ? longest(i + 1, j + 1) + 1 : Math.max(longest(i + 1, j), longest(i, j + 1));
    let i = 0;
    let j = 0;
    while (i < rows || j < columns) {
      if (i < rows && j < columns && a[start + i] === b[start + j]) same(start + i++, start + j++);
      else if (i < rows && (j === columns || longest(i + 1, j) >= longest(i, j + 1))) removed(start + i++);
      else added(start + j++);
    }
  }
  for (let at = 0; at < end; at += 1) same(a.length - end + at, b.length - end + at);
  return lines;
}

/** What differs with so many lines around it; null stands for lines that are left out. */
export function hunks(lines: readonly DiffLine[], around: number): (DiffLine | null)[] {
  const near = new Uint8Array(lines.length);
  lines.forEach(({ kind }, at) => {
    if (kind !== 'same') near.fill(1, Math.max(0, at - around), at + around + 1);
  });
  const shown: (DiffLine | null)[] = [];
  lines.forEach((line, at) => {
    if (near[at]) shown.push(line);
    else if (shown.length > 0 && shown.at(-1) !== null) shown.push(null);
  });
  if (shown.at(-1) === null) shown.pop();
  return shown;
}
