// Giving an input another source: what can be connected with what, and the edit that does it.
import type { EditInput } from '../../generated/graphql';
import { paramsId } from './boxes';
import type { Graph, GraphNode, Source } from './model';

/** A value that an input can take: an output of a node, or a parameter. */
export interface Start {
  /** The box that it is drawn at, and its place there. */
  box: string;
  port: number;
  type: string;
  /** What it is called: `sum`, `n12.1`, `price`. */
  label: string;
  /** As an edit names it. */
  source: Source;
}

/** An input of a node. */
export interface End {
  node: string;
  port: number;
  type: string;
  /** What it is called: `mul.i64 · a`. */
  label: string;
  /** What it takes now; null for a hole. */
  now: Source | null;
}

function nameOf({ ref, label, title }: GraphNode): string {
  return label ?? `${title} ${ref}`;
}

/** All values of a function, parameters first, nodes as they are read. */
export function startsOf(graph: Graph): Start[] {
  const params = graph.params.map(({ index, name, type }): Start => ({
    box: paramsId(null),
    port: index,
    type,
    label: name,
    source: { kind: 'param', index },
  }));
  const inner = [...graph.regions.values()].flatMap(({ ref, params }) =>
    params.map(({ index, name, type }): Start => ({
      box: paramsId(ref),
      port: index,
      type,
      label: `${name} ${ref}`,
      source: { kind: 'regionParam', region: ref, index },
    })),
  );
  const outputs = [...graph.nodes.values()].flatMap((node) =>
    node.outputs.map(({ index, type }): Start => ({
      box: node.ref,
      port: index,
      type,
      label: node.outputs.length > 1 ? `${nameOf(node)} · ${index}` : nameOf(node),
      source: { kind: 'node', ref: node.ref, port: index },
    })),
  );
  return [...params, ...inner, ...outputs];
}

/** All inputs of a function. */
export function endsOf(graph: Graph): End[] {
  return [...graph.nodes.values()].flatMap((node) =>
    node.inputs.map(({ index, name, type, source }): End => ({
      node: node.ref,
      port: index,
      type,
      label: `${nameOf(node)} · ${name || index}`,
      now: source,
    })),
  );
}

/** The value that is drawn at a place of a box. */
export function startAt(graph: Graph, box: string, port: number): Start | undefined {
  return startsOf(graph).find((start) => start.box === box && start.port === port);
}

/** The input that is drawn at a place of a node. */
export function endAt(graph: Graph, node: string, port: number): End | undefined {
  return endsOf(graph).find((end) => end.node === node && end.port === port);
}

function isSame(a: Source | null, b: Source): boolean {
  return a !== null && JSON.stringify(a) === JSON.stringify(b);
}

/** A node and those whose regions it is in, from the inside out. */
function* outwards(graph: Graph, ref: string): Generator<GraphNode> {
  for (let node = graph.nodes.get(ref); node;) {
    yield node;
    const owner = graph.regions.get(node.region)?.owner ?? null;
    node = owner === null ? undefined : graph.nodes.get(owner);
  }
}

/** Why an input cannot take a value; null where nothing is known against it: the server has the last word. */
export function refusal(graph: Graph, { source, type }: Start, end: End): string | null {
  if (isSame(end.now, source)) return 'is connected already';
  if (type !== end.type) return `takes ${end.type}, not ${type}`;
  switch (source.kind) {
    case 'param':
      return null;
    case 'regionParam':
      return [...outwards(graph, end.node)].some(({ region }) => region === source.region)
        ? null
        : 'is outside of its region';
    case 'node': {
      const from = graph.nodes.get(source.ref);
      const around = [...outwards(graph, end.node)].find(({ region }) => region === from?.region);
      if (!from || !around) return 'is outside of its region';
      return from.index < around.index ? null : 'comes before it';
    }
  }
}

/** The edit that connects them. */
export function edgeOf(graph: Graph, { source }: Start, end: End): EditInput {
  const from =
    source.kind === 'node'
      ? source.ref
      : source.kind === 'regionParam'
        ? `${source.region}.${source.index}`
        : (graph.params.find(({ index }) => index === source.index)?.name ?? '');
  return {
    addEdge: {
      from,
      to: end.node,
      targetPort: end.port,
      replace: end.now !== null,
      ...(source.kind === 'node' && source.port > 0 && { sourcePort: source.port }),
    },
  };
}

/** What a keyboard connection begins with, at a node: its first output, and its first hole or first input. */
export function beginning(graph: Graph, selected: string | null): { start: Start | undefined; end: End | undefined } {
  const ends = endsOf(graph).filter(({ node }) => node === selected);
  const hole = ends.find(({ now }) => now === null);
  const start = startsOf(graph).find(({ box }) => box === selected);
  // A node with a hole waits for a value; one without gives its own.
  if (hole) return { start: undefined, end: hole };
  return start ? { start, end: undefined } : { start: undefined, end: ends[0] };
}
