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

/** A number with its word: `1 hole`, `3 holes`. */
export function counted(count: number, word: string, many = `${word}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? word : many}`;
}
