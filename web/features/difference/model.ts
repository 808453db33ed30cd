// Two sides of a function as one graph: what is there now and what is gone, each with what became of it.
import {
  around,
  inOrder,
  type Altered,
  type Change,
  type Edge,
  type Graph,
  type GraphNode,
  type GraphRegion,
  type Head,
  type Param,
  type Port,
  type Sign,
  type Source,
} from '../function';

/** A function on either side; null where it is not there. */
export interface Sides<Side> {
  before: Side | null;
  after: Side | null;
}

/** Parameters of both sides as one list, with the places that those of before have in it. */
interface Params {
  params: Param[];
  places: ReadonlyMap<number, number>;
}

const NOTHING: Pick<Graph, 'nodes' | 'regions' | 'params' | 'roots' | 'body' | 'edges'> = {
  nodes: new Map(),
  regions: new Map(),
  params: [],
  roots: [],
  body: null,
  edges: [],
};

/**
 * The graph of both sides, matched by ref: nodes, regions and edges of either, each with what became of it.
 *
 * What is on both sides stands where it stands now, what is gone behind what stood before it. `modified` are the refs that
 * the server tells as not the same: a node that has only changed its place is known from there.
 */
export function unionOf({ before, after }: Sides<Graph>, modified: ReadonlySet<string>): Graph {
  const was = before ?? NOTHING;
  const is = after ?? NOTHING;
  const params = paramsOf(was.params, is.params);
  const regionParams = new Map(
    [...was.regions.keys(), ...is.regions.keys()].map((ref) => [
      ref,
      paramsOf(was.regions.get(ref)?.params ?? [], is.regions.get(ref)?.params ?? []),
    ]),
  );
  /** Where a source of before is in the graph of both. */
  const placed = (source: Source): Source => {
    switch (source.kind) {
      case 'node':
        return source;
      case 'param':
        return { ...source, index: params.places.get(source.index) ?? source.index };
      case 'regionParam':
        return { ...source, index: regionParams.get(source.region)?.places.get(source.index) ?? source.index };
    }
  };

  const regions = new Map<string, GraphRegion>();
  for (const [ref, { params }] of regionParams) {
    const old = was.regions.get(ref);
    const now = is.regions.get(ref);
    const either = now ?? old;
    if (!either) continue;
    const gone = (old?.nodes ?? []).filter((node) => !is.nodes.has(node));
    const nodes = now ? interleaved(old?.nodes ?? [], now.nodes, new Set(gone)) : gone;
    regions.set(ref, withChange({ ...either, params, nodes }, regionChange(old, now, params)));
  }

  const nodes = new Map<string, GraphNode>();
  for (const { nodes: members } of regions.values())
    for (const [index, ref] of members.entries()) {
      const old = was.nodes.get(ref);
      const now = is.nodes.get(ref);
      const node = old && now ? bothOf(old, now, placed) : (now ?? (old && withPlaces(old, placed)));
      if (!node) continue;
      const change: Change | undefined = !old
        ? { sign: 'added', altered: [] }
        : !now
          ? { sign: 'removed', altered: [] }
          : nodeChange({ old, now, was, is, placed, listed: modified.has(ref) });
      nodes.set(ref, withChange({ ...node, index }, change));
    }

  const edges = edgesOf(was.edges, is.edges, placed);
  const users = new Map<string, string[]>();
  for (const edge of edges)
    if (edge.kind === 'data' && edge.source.kind === 'node') {
      const list = users.get(edge.source.ref);
      if (list) list.push(edge.to);
      else users.set(edge.source.ref, [edge.to]);
    }
  return {
    nodes,
    regions,
    params: params.params,
    roots: [...is.roots, ...was.roots.filter((ref) => !is.roots.includes(ref))],
    body: is.body ?? was.body,
    users,
    edges,
  };
}

function withChange<Thing extends { change?: Change }>(thing: Thing, change: Change | undefined): Thing {
  return change ? { ...thing, change } : thing;
}

/** A list of now, with what is gone from one of before behind what stood before it there. */
export function interleaved(before: readonly string[], now: readonly string[], gone: ReadonlySet<string>): string[] {
  const there = new Set(now);
  const behind = new Map<string | null, string[]>([[null, []]]);
  let anchor: string | null = null;
  for (const ref of before)
    if (there.has(ref)) anchor = ref;
    else if (gone.has(ref)) behind.set(anchor, [...(behind.get(anchor) ?? []), ref]);
  return [...(behind.get(null) ?? []), ...now.flatMap((ref) => [ref, ...(behind.get(ref) ?? [])])];
}

/** Parameters have no refs: they are the same by their name, else by their place. */
function paramsOf(before: readonly Param[], now: readonly Param[]): Params {
  const names = new Map(before.map((param) => [param.name, param]));
  const left = new Set(before);
  const found = now.map((param) => {
    const old = names.get(param.name);
    if (old) left.delete(old);
    return old;
  });
  const places = new Map<number, number>();
  const params = now.map((param, at): Param => {
    let old = found[at];
    if (!old) {
      old = [...left].find(({ index }) => index === param.index);
      if (old) left.delete(old);
    }
    if (!old) return { ...param, sign: 'added' };
    places.set(old.index, param.index);
    const same = old.name === param.name && old.type === param.type;
    return same ? param : { ...param, sign: 'changed', was: written(old) };
  });
  for (const old of left) {
    const index = params.length;
    places.set(old.index, index);
    params.push({ ...old, index, sign: 'removed' });
  }
  return { params, places };
}

function written({ name, type }: Param): string {
  return `${name}: ${type}`;
}

/** Ports are the same by their place; `altered` tells that one differs, and how it was written if that too. */
function portsOf<Item extends Port>(
  before: readonly Item[],
  now: readonly Item[],
  altered: (old: Item, now: Item) => Pick<Port, 'was'> | null,
): Item[] {
  const both = now.map((port, at): Item => {
    const old = before[at];
    if (!old) return { ...port, sign: 'added' };
    const was = altered(old, port);
    return was === null ? port : { ...port, sign: 'changed', ...was };
  });
  return [...both, ...before.slice(now.length).map((port): Item => ({ ...port, sign: 'removed' }))];
}

function withPlaces(node: GraphNode, placed: (source: Source) => Source): GraphNode {
  return { ...node, inputs: node.inputs.map((input) => ({ ...input, source: input.source && placed(input.source) })) };
}

/** A node that is on both sides: as it is, with the ports that are gone. */
function bothOf(old: GraphNode, now: GraphNode, placed: (source: Source) => Source): GraphNode {
  const inputs = portsOf(withPlaces(old, placed).inputs, now.inputs, (a, b) =>
    a.type !== b.type ? { was: a.type } : sourceKey(a.source) !== sourceKey(b.source) ? {} : null,
  );
  const outputs = portsOf(old.outputs, now.outputs, (a, b) => (a.type === b.type ? null : { was: a.type }));
  const regions = interleaved(old.regions, now.regions, new Set(old.regions.filter((r) => !now.regions.includes(r))));
  return { ...now, inputs, outputs, regions };
}

function sourceKey(source: Source | null): string {
  switch (source?.kind) {
    case undefined:
      return '';
    case 'node':
      return `${source.ref}.${source.port}`;
    case 'param':
      return `p${source.index}`;
    case 'regionParam':
      return `${source.region}.${source.index}`;
  }
}

type Side = Pick<Graph, 'nodes' | 'regions' | 'params'>;

/** A node as words name it. */
export function nameOf({ ref, label, title }: Pick<GraphNode, 'ref' | 'label' | 'title'>): string {
  return `${label ?? title} ${ref}`;
}

function sourceName(side: Side, source: Source | null): string {
  switch (source?.kind) {
    case undefined:
      return 'a hole';
    case 'node': {
      const node = side.nodes.get(source.ref);
      const name = node ? nameOf(node) : source.ref;
      return node && node.outputs.length > 1 ? `${name} output ${source.port}` : name;
    }
    case 'param':
      return side.params[source.index]?.name ?? `parameter ${source.index}`;
    case 'regionParam': {
      const region = side.regions.get(source.region);
      return region?.params[source.index]?.name ?? `${source.region}.${source.index}`;
    }
  }
}

/** More characters of a comment than these are cut off. */
const LONGEST = 80;

function short(text: string | null): string | null {
  return text !== null && text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

function regionName(side: Side, ref: string): string {
  const region = side.regions.get(ref);
  if (!region) return ref;
  const owner = region.owner === null ? undefined : side.nodes.get(region.owner);
  return owner ? `${region.title} of ${nameOf(owner)}` : region.title;
}

const types = (ports: readonly Port[]) => ports.map(({ type }) => type).join(', ') || null;

/** What differs at a node that is on both sides. */
function nodeChange(about: {
  old: GraphNode;
  now: GraphNode;
  was: Side;
  is: Side;
  placed: (source: Source) => Source;
  listed: boolean;
}): Change | undefined {
  const { old, now, was, is, placed, listed } = about;
  const altered: Altered[] = [];
  const say = (what: string, was: string | null, is: string | null) => altered.push({ what, was, is });
  if (old.op !== now.op) {
    const same = old.title === now.title;
    say(
      now.kind === 'const' && old.kind === 'const' ? 'value' : 'operator',
      same ? old.op : old.title,
      same ? now.op : now.title,
    );
  }
  for (let at = 0; at < Math.max(old.inputs.length, now.inputs.length); at += 1) {
    const [a, b] = [old.inputs[at], now.inputs[at]];
    const what = `input ${b?.name || a?.name || at}`;
    if (!a || !b) say(what, a ? sourceName(was, a.source) : null, b ? sourceName(is, b.source) : null);
    else {
      if (sourceKey(a.source && placed(a.source)) !== sourceKey(b.source))
        say(what, sourceName(was, a.source), sourceName(is, b.source));
      if (a.type !== b.type) say(`type of ${what}`, a.type, b.type);
    }
  }
  if (types(old.outputs) !== types(now.outputs)) say('output', types(old.outputs), types(now.outputs));
  if (old.label !== now.label) say('name', old.label, now.label);
  if (old.doc !== now.doc) say('comment', short(old.doc), short(now.doc));
  if (old.region !== now.region) say('place', regionName(was, old.region), regionName(is, now.region));
  if (old.regions.join() !== now.regions.join()) say('regions', titles(was, old), titles(is, now));
  // What the server tells as moved may stand between the same neighbours: its position among all tells at least that.
  if (listed && altered.length === 0) say('place', positionOf(was, old), positionOf(is, now));
  return altered.length > 0 ? { sign: 'changed', altered } : undefined;
}

function titles(side: Side, { regions }: GraphNode): string | null {
  return regions.map((ref) => side.regions.get(ref)?.title ?? ref).join(', ') || null;
}

function positionOf(side: Side, { region, index }: GraphNode): string {
  const nodes = side.regions.get(region)?.nodes ?? [];
  const before = side.nodes.get(nodes[index - 1] ?? '');
  return before ? `${index + 1}, after ${nameOf(before)}` : `${index + 1}`;
}

function regionChange(
  old: GraphRegion | undefined,
  now: GraphRegion | undefined,
  params: readonly Param[],
): Change | undefined {
  if (!old) return { sign: 'added', altered: [] };
  if (!now) return { sign: 'removed', altered: [] };
  const altered: Altered[] = [];
  if (old.title !== now.title) altered.push({ what: 'title', was: old.title, is: now.title });
  if (params.some(({ sign }) => sign !== undefined)) {
    const list = (region: GraphRegion) => region.params.map(written).join(', ') || null;
    altered.push({ what: 'parameters', was: list(old), is: list(now) });
  }
  return altered.length > 0 ? { sign: 'changed', altered } : undefined;
}

function edgeKey(edge: Edge): string {
  return edge.kind === 'order'
    ? `${edge.from} then ${edge.to}`
    : `${sourceKey(edge.source)} to ${edge.to}.${edge.port}`;
}

/** The edges of both sides: those of now, then those that are gone. */
function edgesOf(before: readonly Edge[], now: readonly Edge[], placed: (source: Source) => Source): Edge[] {
  const old = new Map(
    before
      .map((edge): Edge => (edge.kind === 'data' ? { ...edge, source: placed(edge.source) } : edge))
      .map((edge) => [edgeKey(edge), edge]),
  );
  const both = now.map((edge): Edge => (old.delete(edgeKey(edge)) ? edge : { ...edge, sign: 'added' }));
  return [...both, ...[...old.values()].map((edge): Edge => ({ ...edge, sign: 'removed' }))];
}

/** The nodes that differ, in the order of the text. */
export function differing(graph: Graph): GraphNode[] {
  return inOrder(graph).flatMap((ref) => {
    const node = graph.nodes.get(ref);
    return node?.change ? [node] : [];
  });
}

/** How many nodes and edges became what. */
export interface Tally {
  nodes: Record<Sign, number>;
  edges: Record<Sign, number>;
  /** How many nodes are as they were. */
  same: number;
}

/** Counts what became of the nodes and edges of a graph. */
export function tallyOf(graph: Graph): Tally {
  const nodes = { added: 0, removed: 0, changed: 0 };
  const edges = { added: 0, removed: 0, changed: 0 };
  let same = 0;
  for (const { change } of graph.nodes.values())
    if (change) nodes[change.sign] += 1;
    else same += 1;
  for (const { sign } of graph.edges) if (sign) edges[sign] += 1;
  return { nodes, edges, same };
}

/** A part of a long region has at most so many nodes. */
const PART = 60;
/**
 * About so many nodes are shown of what is folded: two parts of a function far from each other take several times as long
 * to lay out as one.
 */
const ROOM = PART;

/**
 * What is open at first: what is around nodes that differ, as far as there is room. What stays folded says how many
 * differ in it.
 */
export function opened(graph: Graph): ReadonlyMap<string, boolean> {
  const open = new Map<string, boolean>();
  let room = ROOM;
  for (const { ref } of differing(graph)) {
    if (room <= 0) break;
    const ids = around(graph, ref).filter((id) => !open.has(id));
    const cost = ids
      // The body is open anyway; of an owner its regions are counted.
      .filter((id) => id !== graph.body && !graph.nodes.has(id))
      .reduce((sum, id) => sum + Math.min(PART, graph.regions.get(id)?.nodes.length ?? PART), 0);
    if (cost > room) continue;
    room -= cost;
    for (const id of ids) open.set(id, false);
  }
  return open;
}

/** What differs of a function beside its nodes. */
export function aboutFunction({ before, after }: Sides<Head>): Altered[] {
  if (!before || !after) return [];
  const altered: Altered[] = [];
  const say = (what: string, was: string | null, is: string | null) => {
    if (was !== is) altered.push({ what, was, is });
  };
  say('path', before.path, after.path);
  say('signature', before.signature, after.signature);
  say('visibility', before.visibility.toLowerCase(), after.visibility.toLowerCase());
  say('effect bound', before.effectBound.toLowerCase(), after.effectBound.toLowerCase());
  say('exported as', before.exports.join(', ') || null, after.exports.join(', ') || null);
  say('comment', short(before.doc), short(after.doc));
  const byRef = <Item extends { ref: string }>(a: readonly Item[], b: readonly Item[]) =>
    [...new Set([...a, ...b].map(({ ref }) => ref))].map((ref) => ({
      ref,
      a: a.find((item) => item.ref === ref),
      b: b.find((item) => item.ref === ref),
    }));
  for (const { ref, a, b } of byRef(before.vars, after.vars)) {
    const variable = (of: typeof a) => (of ? `${of.name ?? of.ref}: ${of.type}` : null);
    say(`variable ${ref}`, variable(a), variable(b));
  }
  for (const { ref, a, b } of byRef(before.contracts, after.contracts)) {
    const contract = (of: typeof a) => (of ? `${of.kind.toLowerCase()} “${of.message}”` : null);
    say(`contract ${ref}`, contract(a), contract(b));
  }
  return altered;
}
