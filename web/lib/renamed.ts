/** The path that an address should have in the place of the one by which a function was found; null for one that stays. */
export function renamedTo(name: string, path: string | undefined): string | null {
  // An address that has the ref, or a part of the path, is as good as before.
  return path !== undefined && path !== name && name.includes('::') ? path : null;
}
