/** Names that are longer than this are cut in the middle: those that tools make differ at their ends. */
const LONG = 32;
/** So many characters of the end stay. */
const END = 12;

/** The two parts of a long name, of which the first gives way where there is no room; null for a short one. */
export function halvesOf(name: string): [string, string] | null {
  return name.length > LONG ? [name.slice(0, -END), name.slice(-END)] : null;
}

/** A name cut in the middle to so many characters. */
export function cutMiddle(name: string, length: number): string {
  if (name.length <= length) return name;
  const kept = Math.max(1, length - 1);
  const end = Math.floor(kept / 2);
  return `${name.slice(0, kept - end)}…${name.slice(name.length - end)}`;
}
