const UNITS: readonly (readonly [unit: string, seconds: number])[] = [
  ['y', 31_536_000],
  ['mo', 2_592_000],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
];

/** How long before `now` a moment was, both in milliseconds: `3 min ago`. */
export function ago(then: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - then) / 1000));
  const [unit, length] = UNITS.find(([, length]) => seconds >= length) ?? [];
  return unit && length ? `${Math.floor(seconds / length)} ${unit} ago` : 'just now';
}

/** How long something lasts, in its two largest units: `820 ms`, `3.2 s`, `4 min 5 s`, `3 h`. */
export function lasting(milliseconds: number): string {
  const given = Math.max(0, milliseconds);
  if (given < 999.5) return `${Math.round(given)} ms`;
  if (given < 59_950) return `${(given / 1000).toFixed(given < 9_950 ? 1 : 0)} s`;
  const seconds = Math.round(given / 1000);
  const at = UNITS.findIndex(([, length]) => seconds >= length);
  const [unit, length] = UNITS[at] ?? ['min', 60];
  const [smaller, part] = UNITS[at + 1] ?? ['s', 1];
  const rest = Math.floor((seconds % length) / part);
  return `${Math.floor(seconds / length)} ${unit}${rest > 0 ? ` ${rest} ${smaller}` : ''}`;
}

/** A number with its word: `1 hole`, `3 holes`. */
export function counted(count: number, word: string, many = `${word}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? word : many}`;
}
