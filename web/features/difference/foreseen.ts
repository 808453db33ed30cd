// A function as it would be after a change that is not made.
import { graphOf, type Head, type Loaded, type Names, type NodeData, type RegionData } from '../function';
import type { AskPart } from '../preview';

/**
 * Loads a function of a difference as it would be; `behind` is the cursor behind which it stands.
 *
 * Null where the difference is not what it was: each page is asked for by trying the change again.
 */
export async function foreseen(
  ask: AskPart,
  { ref, behind }: { ref: string; behind: string | null },
  onProgress: (done: number, total: number) => void,
): Promise<Loaded | null> {
  const nodes: NodeData[] = [];
  const regions: RegionData[] = [];
  const from: { nodes: string | null; regions: string | null } = { nodes: null, regions: null };
  let first: { head: Head; names: Names } | null = null;
  for (;;) {
    const part = await ask({ after: behind, whole: true, ...from });
    const head = part?.one?.nodes[0]?.after;
    if (!part?.program || !head?.nodes || !head.regions || head.ref !== ref) return null;
    // What the change alone has is named in the program as it would be.
    first ??= { head, names: part.program };
    if (head.contentHash !== first.head.contentHash) return null;
    nodes.push(...head.nodes.nodes);
    regions.push(...head.regions.nodes);
    onProgress(nodes.length, head.nodes.totalCount);
    const { pageInfo: node } = head.nodes;
    const { pageInfo: region } = head.regions;
    if (!node.hasNextPage && !region.hasNextPage) {
      const graph = graphOf(first.head, first.names, nodes, regions);
      return { head: first.head, graph, revision: null };
    }
    // Behind the last of a list there is nothing more, as often as one asks.
    from.nodes = node.endCursor ?? from.nodes;
    from.regions = region.endCursor ?? from.regions;
  }
}
