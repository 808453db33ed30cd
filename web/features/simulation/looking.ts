// Looking back in the steps of a run: the API pages forward only.
import type { Graph } from '../function';

/** A step, as far as it is needed to find it. */
export interface Seen {
  seq: number;
  frame: number;
  node: string;
}

/** A page of the steps of some nodes, from a number on. */
export type AskSteps = (from: number) => Promise<{ steps: readonly Seen[]; nextSeq: number | null }>;

/** How far one looks back at first, and how much further each time. */
const SPAN = 256;
const WIDER = 64;
/** How many pages are read of one span. */
const PAGES = 20;

/** The steps of some nodes from a number on, before another one. `whole` is false where there were too many. */
export async function stepsBetween(
  ask: AskSteps,
  from: number,
  before: number,
): Promise<{ steps: Seen[]; whole: boolean }> {
  const steps: Seen[] = [];
  let at: number | null = from;
  for (let page = 0; page < PAGES && at !== null && at < before; page += 1) {
    const answer: Awaited<ReturnType<AskSteps>> = await ask(at);
    steps.push(...answer.steps.filter(({ seq }) => seq < before));
    at = answer.nextSeq;
  }
  return { steps, whole: at === null || at >= before };
}

/** The last step before a number that fits; null if there is none. Looks nearby first, then further and further back. */
export async function lastStep(ask: AskSteps, before: number, fits: (step: Seen) => boolean): Promise<number | null> {
  for (let span = SPAN; ; span *= WIDER) {
    const from = Math.max(0, before - span);
    const { steps } = await stepsBetween(ask, from, before);
    const found = steps.findLast(fits);
    if (found) return found.seq;
    if (from === 0) return null;
  }
}

/** A loop around a node, with the node that each of its rounds begins with. */
export interface Loop {
  node: string;
  name: string;
  first: string;
}

/** The loops around a node, the outermost first. */
export function loopsAround(graph: Graph, at: string): Loop[] {
  const loops: Loop[] = [];
  for (let node = graph.nodes.get(at); node;) {
    const region = graph.regions.get(node.region);
    const owner = region?.owner ? graph.nodes.get(region.owner) : undefined;
    const first = region?.nodes[0];
    const [, name] = /^loop(?: (\w+))?/.exec(owner?.title ?? '') ?? [];
    if (owner && first !== undefined && owner.title.startsWith('loop'))
      loops.unshift({ node: owner.ref, name: name ?? owner.ref, first });
    node = owner;
  }
  return loops;
}

/** Which round of a loop a node is in, counted from 1; null where that was not found out. */
export async function roundOf(
  ask: (nodes: readonly string[], from: number) => ReturnType<AskSteps>,
  loop: Loop,
  place: { at: string; frame: number; position: number },
): Promise<number | null> {
  const { at, frame, position } = place;
  const entered = await lastStep(
    (from) => ask([loop.node], from),
    position,
    (step) => step.frame === frame,
  );
  if (entered === null) return null;
  const { steps, whole } = await stepsBetween((from) => ask([loop.first], from), entered, position);
  if (!whole) return null;
  // It stands before the node, which is not in the list yet.
  return steps.filter((step) => step.frame === frame).length + (at === loop.first ? 1 : 0);
}
