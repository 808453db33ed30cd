// Which boxes are drawn: nodes in the boxes of their regions, long regions cut into segments, collapsed what is too much.
import type { Change, Graph, GraphNode, GraphRegion, Param, Sign } from './model';

/** Something that is drawn, with what is drawn in it. */
export type Box =
  | { type: 'node'; id: string; node: GraphNode }
  /** A node with the regions that it owns. */
  | ({ type: 'owner'; id: string; node: GraphNode } & Foldable)
  /** A region that is one of several of its owner, a contract, or the body. */
  | ({ type: 'region'; id: string; title: string; change: Change | undefined } & Foldable)
  /** Some nodes of a long region that follow each other. */
  | ({ type: 'segment'; id: string; title: string } & Foldable)
  /** The parameters of a function or region. */
  | { type: 'params'; id: string; params: Param[] };

/** What can be collapsed: how many nodes are in it, and how many of them differ, in the graph of a difference. */
interface Foldable {
  collapsed: boolean;
  inside: number;
  changed: number;
  children: Box[];
}

/** Whether something that can be collapsed is, where the reader has said so. */
export type Choices = ReadonlyMap<string, boolean>;

/** Above so many nodes a function is shown collapsed. */
export const LARGE = 500;
/** A region of a large function that is longer than two of them is cut into segments of so many nodes. */
const SEGMENT = 60;
const LONG = 2 * SEGMENT;

/** Whether a region is cut into segments. */
function isLong(graph: Graph, { nodes }: GraphRegion): boolean {
  return graph.nodes.size > LARGE && nodes.length > LONG;
}

/** The box of the parameters of a function or region. */
export function paramsId(region: string | null): string {
  return `${region ?? 'function'}.params`;
}

/** How many nodes that count are in a region, those of inner ones included. */
function sizes(graph: Graph, counts: (node: GraphNode | undefined) => boolean): Map<string, number> {
  const found = new Map<string, number>();
  const ofNode = (ref: string): number =>
    (graph.nodes.get(ref)?.regions ?? []).reduce(
      (sum, region) => sum + ofRegion(region),
      counts(graph.nodes.get(ref)) ? 1 : 0,
    );
  const ofRegion = (ref: string): number => {
    const size = (graph.regions.get(ref)?.nodes ?? []).reduce((sum, node) => sum + ofNode(node), 0);
    found.set(ref, size);
    return size;
  };
  graph.roots.forEach(ofRegion);
  return found;
}

/** The boxes around a node, from the inside out: what must be open for it to be seen. */
export function around(graph: Graph, ref: string): string[] {
  const ids: string[] = [];
  for (let node = graph.nodes.get(ref); node;) {
    const region: GraphRegion | undefined = graph.regions.get(node.region);
    if (!region) break;
    if (isLong(graph, region)) ids.push(segmentId(region.ref, Math.floor(node.index / SEGMENT)));
    ids.push(region.ref);
    if (region.owner === null) break;
    ids.push(region.owner);
    node = graph.nodes.get(region.owner);
  }
  return ids;
}

/** Whether the verifier finds something at the nodes of a region. */
function flawed(graph: Graph, region: string): boolean {
  return (graph.regions.get(region)?.nodes ?? []).some((ref) => (graph.nodes.get(ref)?.findings.length ?? 0) > 0);
}

function segmentId(region: string, at: number): string {
  return `${region}.s${at}`;
}

/**
 * The boxes of a function.
 *
 * A small one is open, but for contracts without findings. Of a large one only the first part of its body is, and what is
 * around the selected node.
 */
export function boxesOf(graph: Graph, choices: Choices, selected: string | null): Box[] {
  const large = graph.nodes.size > LARGE;
  const inside = sizes(graph, () => true);
  const differ = sizes(graph, (node) => node?.change !== undefined);
  const within = (sizes: Map<string, number>, regions: readonly string[]) =>
    regions.reduce((sum, region) => sum + (sizes.get(region) ?? 0), 0);
  const needed = new Set(selected ? around(graph, selected) : []);
  const collapsed = (id: string, byDefault: boolean) => choices.get(id) ?? (byDefault && !needed.has(id));

  const nodeBox = (ref: string): Box[] => {
    const node = graph.nodes.get(ref);
    if (!node) return [];
    if (node.regions.length === 0) return [{ type: 'node', id: ref, node }];
    const closed = collapsed(ref, large);
    const children = closed
      ? []
      : node.regions.length === 1
        ? content(node.regions[0] ?? '')
        : node.regions.flatMap((region) => regionBox(region, false));
    return [
      {
        type: 'owner',
        id: ref,
        node,
        collapsed: closed,
        inside: within(inside, node.regions),
        changed: within(differ, node.regions),
        children,
      },
    ];
  };

  const regionBox = (ref: string, byDefault: boolean): Box[] => {
    const region = graph.regions.get(ref);
    if (!region) return [];
    const closed = collapsed(ref, byDefault);
    const { title, change } = region;
    return [
      {
        type: 'region',
        id: ref,
        title,
        change,
        collapsed: closed,
        inside: within(inside, [ref]),
        changed: within(differ, [ref]),
        children: closed ? [] : content(ref),
      },
    ];
  };

  const content = (ref: string): Box[] => {
    const region = graph.regions.get(ref);
    if (!region) return [];
    const params: Box[] =
      region.params.length > 0 ? [{ type: 'params', id: paramsId(ref), params: region.params }] : [];
    if (!isLong(graph, region)) return [...params, ...region.nodes.flatMap(nodeBox)];
    const segments: Box[] = [];
    for (let start = 0; start < region.nodes.length; start += SEGMENT) {
      const nodes = region.nodes.slice(start, start + SEGMENT);
      const id = segmentId(ref, start / SEGMENT);
      const closed = collapsed(id, start > 0 || selected !== null);
      segments.push({
        type: 'segment',
        id,
        title: `nodes ${start + 1}–${start + nodes.length}`,
        collapsed: closed,
        inside: nodes.length,
        changed: nodes.filter((node) => graph.nodes.get(node)?.change).length,
        children: closed ? [] : nodes.flatMap(nodeBox),
      });
    }
    return [...params, ...segments];
  };

  const params: Box[] = graph.params.length > 0 ? [{ type: 'params', id: paramsId(null), params: graph.params }] : [];
  return [
    ...params,
    ...graph.roots.flatMap((ref) => (ref === graph.body ? content(ref) : regionBox(ref, !flawed(graph, ref)))),
  ];
}

/** A line between two boxes: a value, or the order in which two nodes with effects run. */
export interface Line {
  id: string;
  kind: 'data' | 'order';
  from: string;
  /** The output; null where the box stands for several nodes. */
  fromPort: number | null;
  to: string;
  toPort: number | null;
  type: string;
  /** How many edges of the graph it stands for. */
  count: number;
  /** What became of them, in the graph of a difference. */
  sign: Sign | null;
}

/** Every box by id, parents before children, with the box around it. */
export function listed(boxes: readonly Box[], parent: string | null = null): { box: Box; parent: string | null }[] {
  return boxes.flatMap((box) => [{ box, parent }, ...('children' in box ? listed(box.children, box.id) : [])]);
}

/** The lines between the boxes that are shown. Edges between the same two collapsed boxes are one line. */
export function linesOf(graph: Graph, boxes: readonly Box[]): Line[] {
  const shown = new Map(listed(boxes).map(({ box }) => [box.id, box]));
  /** The box that stands for a node, and whether it is the node itself. */
  const standIn = (ref: string): { id: string; itself: boolean } | null => {
    if (shown.has(ref)) return { id: ref, itself: true };
    const id = around(graph, ref).find((id) => shown.has(id));
    return id === undefined ? null : { id, itself: false };
  };

  const lines = new Map<string, Line>();
  const draw = (line: Omit<Line, 'id' | 'count'>) => {
    if (line.from === line.to) return;
    const ends = `${line.kind} ${line.from} ${line.fromPort ?? ''} ${line.to} ${line.toPort ?? ''}`;
    const id = line.sign === null ? ends : `${ends} ${line.sign}`;
    const known = lines.get(id);
    if (known) known.count += 1;
    else lines.set(id, { ...line, id, count: 1 });
  };

  for (const edge of graph.edges) {
    const { sign } = edge;
    const target = standIn(edge.to);
    if (!target) continue;
    const to = target.id;
    if (edge.kind === 'order') {
      const from = standIn(edge.from);
      if (from) draw({ kind: 'order', from: from.id, fromPort: null, to, toPort: null, type: '', sign });
      continue;
    }
    const { source, type } = edge;
    const toPort = target.itself ? edge.port : null;
    if (source.kind === 'node') {
      const from = standIn(source.ref);
      if (!from) continue;
      const fromPort = from.itself ? source.port : null;
      draw({ kind: 'data', from: from.id, fromPort, to, toPort, type, sign });
    } else {
      const from = paramsId(source.kind === 'param' ? null : source.region);
      if (shown.has(from)) draw({ kind: 'data', from, fromPort: source.index, to, toPort, type, sign });
    }
  }
  return [...lines.values()];
}
