const collator = new Intl.Collator('en', { numeric: true });

/** The order in which paths are listed; numbers in them count as numbers. */
export function byPath(a: { path: string }, b: { path: string }): number {
  return collator.compare(a.path, b.path);
}
