// Which boxes are drawn: nodes in the boxes of their regions, long regions cut into segments, collapsed what is too much.
import type { Graph, GraphNode, GraphRegion } from './model';

/** Something that is drawn, with what is drawn in it. */
export type Box =
  | { type: 'node'; id: string; node: GraphNode }
  /** A node with the regions that it owns. */
  | { type: 'owner'; id: string; node: GraphNode; collapsed: boolean; inside: number; children: Box[] }
  /** A region that is one of several of its owner, a contract, or the body. */
  | { type: 'region'; id: string; title: string; collapsed: boolean; inside: number; children: Box[] }
  /** Some nodes of a long region that follow each other. */
  | { type: 'segment'; id: string; title: string; collapsed: boolean; inside: number; children: Box[] }
  /** The parameters of a function or region. */
  | { type: 'params'; id: string; params: { index: number; name: string; type: string }[] };

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

/** How many nodes are in a region, those of inner ones included. */
function sizes(graph: Graph): Map<string, number> {
  const found = new Map<string, number>();
  const ofNode = (ref: string): number =>
    1 + (graph.nodes.get(ref)?.regions ?? []).reduce((sum, region) => sum + ofRegion(region), 0);
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
    if (isLong(graph, region)) ids.push(segmentId(region.ref, Math.floor(region.nodes.indexOf(node.ref) / SEGMENT)));
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
  const inside = sizes(graph);
  const needed = new Set(selected ? around(graph, selected) : []);
  const collapsed = (id: string, byDefault: boolean) => choices.get(id) ?? (byDefault && !needed.has(id));

  const nodeBox = (ref: string): Box[] => {
    const node = graph.nodes.get(ref);
    if (!node) return [];
    if (node.regions.length === 0) return [{ type: 'node', id: ref, node }];
    const count = node.regions.reduce((sum, region) => sum + (inside.get(region) ?? 0), 0);
    const closed = collapsed(ref, large);
    const children = closed
      ? []
      : node.regions.length === 1
        ? content(node.regions[0] ?? '')
        : node.regions.flatMap((region) => regionBox(region, false));
    return [{ type: 'owner', id: ref, node, collapsed: closed, inside: count, children }];
  };

  const regionBox = (ref: string, byDefault: boolean): Box[] => {
    const region = graph.regions.get(ref);
    if (!region) return [];
    const closed = collapsed(ref, byDefault);
    const children = closed ? [] : content(ref);
    return [
      { type: 'region', id: ref, title: region.title, collapsed: closed, inside: inside.get(ref) ?? 0, children },
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
    const id = `${line.kind} ${line.from} ${line.fromPort ?? ''} ${line.to} ${line.toPort ?? ''}`;
    const known = lines.get(id);
    if (known) known.count += 1;
    else lines.set(id, { ...line, id, count: 1 });
  };

  for (const node of graph.nodes.values()) {
    const target = standIn(node.ref);
    if (!target) continue;
    for (const { index, type, source } of node.inputs) {
      if (!source) continue;
      const toPort = target.itself ? index : null;
      if (source.kind === 'node') {
        const from = standIn(source.ref);
        if (!from) continue;
        const fromPort = from.itself ? source.port : null;
        draw({ kind: 'data', from: from.id, fromPort, to: target.id, toPort, type });
      } else {
        const from = paramsId(source.kind === 'param' ? null : source.region);
        if (shown.has(from)) draw({ kind: 'data', from, fromPort: source.index, to: target.id, toPort, type });
      }
    }
  }

  for (const region of graph.regions.values()) {
    let before: string | null = null;
    for (const ref of region.nodes) {
      if (graph.nodes.get(ref)?.effect === 'PURE') continue;
      const box = standIn(ref);
      if (!box) continue;
      if (before !== null) draw({ kind: 'order', from: before, fromPort: null, to: box.id, toPort: null, type: '' });
      before = box.id;
    }
  }
  return [...lines.values()];
}
