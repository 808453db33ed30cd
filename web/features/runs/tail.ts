// A list that is written at its end while it is read: steps and spans of a run.

/** A part of it, as the schema has it. */
export interface Part<Item> {
  totalCount: number;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
  edges: readonly { cursor: string; node: Item }[];
}

/** What is known of it. */
export interface Tail<Item> {
  /** The items with their cursors, in order; absent until the first part is there. */
  edges: readonly { cursor: string; node: Item }[] | undefined;
  total: number;
  /** Where the next part begins; null where all that there was is loaded. */
  next: string | null;
}

export const NOTHING: Tail<never> = { edges: undefined, total: 0, next: null };

/** The list with a part that follows a cursor; without one it begins the list. */
export function withPart<Item>(
  tail: Tail<Item>,
  after: string | null,
  part: Part<Item>,
  keyOf: (item: Item) => string,
): Tail<Item> {
  const { edges: before = [] } = tail;
  const at = after === null ? 0 : before.findIndex(({ cursor }) => cursor === after) + 1;
  // What stands behind the cursor is told anew.
  const kept = after === null ? [] : at > 0 ? before.slice(0, at) : before;
  const all = new Map(kept.map((edge) => [keyOf(edge.node), edge]));
  for (const edge of part.edges) all.set(keyOf(edge.node), edge);
  const next = part.pageInfo.hasNextPage ? part.pageInfo.endCursor : null;
  return { edges: [...all.values()], total: part.totalCount, next };
}

/**
 * The cursor behind which something may be another one now: that of the last item before the first that is not settled.
 *
 * Null asks for the first part again.
 */
export function changingAfter<Item>({ edges = [] }: Tail<Item>, settled: (item: Item) => boolean): string | null {
  const first = edges.findIndex(({ node }) => !settled(node));
  const at = first < 0 ? edges.length : first;
  return edges[at - 1]?.cursor ?? null;
}
