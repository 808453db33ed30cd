// Where keys lead in the graph.
import type { Box } from './boxes';
import type { Graph, GraphNode } from './model';

/** A way from a node to another one. */
export type Step = 'producer' | 'consumer' | 'before' | 'after' | 'out' | 'in' | 'first' | 'last';

/** The step of a key. */
export function stepOf({ key, shiftKey }: { key: string; shiftKey: boolean }): Step | null {
  switch (key) {
    case 'ArrowUp':
      return shiftKey ? 'out' : 'producer';
    case 'ArrowDown':
      return shiftKey ? 'in' : 'consumer';
    case 'ArrowLeft':
      return 'before';
    case 'ArrowRight':
      return 'after';
    case 'Home':
      return 'first';
    case 'End':
      return 'last';
    default:
      return null;
  }
}

/** The nodes of a function in the order of its text. */
export function inOrder(graph: Graph): string[] {
  const ofRegion = (ref: string): string[] => (graph.regions.get(ref)?.nodes ?? []).flatMap(ofNode);
  const ofNode = (ref: string): string[] => [ref, ...(graph.nodes.get(ref)?.regions ?? []).flatMap(ofRegion)];
  return graph.roots.flatMap(ofRegion);
}

/** The one behind another one in a list that has no end, or before it; the first or last where that is not in it. */
export function nextOf(list: readonly string[], from: string | null, by: 1 | -1): string | null {
  const at = from === null ? -1 : list.indexOf(from);
  if (at < 0) return list.at(by > 0 ? 0 : -1) ?? null;
  return list[(at + by + list.length) % list.length] ?? null;
}

/**
 * The node that a step leads to; the same one where it leads nowhere.
 *
 * Where a node has no producer or consumer, its neighbour in the region stands in, so that no key is dead.
 */
export function stepFrom(graph: Graph, from: string | null, step: Step): string | null {
  const node = from === null ? undefined : graph.nodes.get(from);
  if (!node) return inOrder(graph).at(step === 'last' ? -1 : 0) ?? null;
  const siblings = graph.regions.get(node.region)?.nodes ?? [];
  const beside = (by: number) => siblings[node.index + by] ?? node.ref;
  switch (step) {
    case 'producer': {
      const made = node.inputs.find(({ source }) => source?.kind === 'node')?.source;
      return made?.kind === 'node' ? made.ref : beside(-1);
    }
    case 'consumer':
      return graph.users.get(node.ref)?.[0] ?? beside(1);
    case 'before':
      return beside(-1);
    case 'after':
      return beside(1);
    case 'out':
      return graph.regions.get(node.region)?.owner ?? node.ref;
    case 'in':
      return node.regions.map((region) => graph.regions.get(region)?.nodes[0]).find(Boolean) ?? node.ref;
    case 'first':
      return siblings[0] ?? node.ref;
    case 'last':
      return siblings.at(-1) ?? node.ref;
  }
}

/** What there is to open at a node: the function that it calls, or what it owns, to be folded otherwise; or nothing. */
export type Opened = { kind: 'callee'; callee: string; node: GraphNode } | { kind: 'fold'; collapsed: boolean } | null;

/** What opens when a node is opened, in a picture with these boxes. */
export function openedBy(graph: Graph | undefined, boxes: readonly { box: Box }[], ref: string): Opened {
  const node = graph?.nodes.get(ref);
  if (node?.callee) return { kind: 'callee', callee: node.callee, node };
  const box = boxes.find(({ box }) => box.id === ref)?.box;
  return box?.type === 'owner' ? { kind: 'fold', collapsed: !box.collapsed } : null;
}
