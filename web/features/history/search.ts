/** What an address says of a history. */
export interface HistorySearch {
  /** The branch that is shown; without it all of them. */
  branch?: string;
  /** Only revisions of this author. */
  author?: string;
  /** Only revisions that touched this entity, by ref or path. */
  touching?: string;
  /** The revisions that are looked at: `r5,r7`. */
  sel?: string;
  /** How a difference is shown; without it by its structure. */
  diff?: 'text' | 'graph';
  /** The function whose difference is shown as a graph, by ref; without it the first. */
  fn?: string;
  /** The node that is selected in it, by ref. */
  node?: string;
}

/** An address without what is empty. */
export function searchOf(parts: { [Key in keyof HistorySearch]: string | null | undefined }): HistorySearch {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value)) as HistorySearch;
}
