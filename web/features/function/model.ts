// A function as a graph: nodes in regions, with names in place of refs, and who takes whose value.
import type {
  FunctionFactsFragment,
  NodePageFragment,
  ProgramNamesFragment,
  RegionPageFragment,
} from '../../generated/graphql';

/** A function without its nodes. */
export type Head = FunctionFactsFragment;
/** What names there are in a program beside those of functions. */
export type Names = ProgramNamesFragment;
/** A node as the schema has it. */
export type NodeData = NodePageFragment['nodes'][number];
/** A region as the schema has it. */
export type RegionData = RegionPageFragment['nodes'][number];

/** What a node is drawn as. */
export type Kind = 'const' | 'compute' | 'control' | 'call' | 'effect';

/** Where the value of an input comes from: an output of a node, or a parameter of the function or of a region. */
export type Source =
  | { kind: 'node'; ref: string; port: number }
  | { kind: 'param'; index: number }
  | { kind: 'regionParam'; region: string; index: number };

/** What became of a thing, in the graph of a difference. */
export type Sign = 'added' | 'removed' | 'changed';

/** A property that is another one now: what it is called, and how it was and is written; null for nothing. */
export interface Altered {
  what: string;
  was: string | null;
  is: string | null;
}

/** What became of a node or region. */
export interface Change {
  sign: Sign;
  /** What differs; nothing for what is on one side only. */
  altered: readonly Altered[];
}

/** A place where a value enters or leaves. */
export interface Port {
  index: number;
  type: string;
  /** What became of it; absent where it is the same, and in a graph that is no difference. */
  sign?: Sign;
  /** How it was written before. */
  was?: string;
}

/** A parameter of a function or region. */
export interface Param extends Port {
  name: string;
}

/** An input of a node. */
export interface Input extends Port {
  /** What callers call it; empty where a type says it all. */
  name: string;
  /** Null for a hole. */
  source: Source | null;
}

/** A finding at a node. */
export interface Finding {
  code: string;
  message: string;
  error: boolean;
  port: number | null;
}

/** A node of the graph. */
export interface GraphNode {
  ref: string;
  /** Its name, if it has one. */
  label: string | null;
  /** Its operator, with names for refs: `struct.get Account.balance`. */
  title: string;
  /** Its operator with refs, as it is stored. */
  op: string;
  kind: Kind;
  effect: NodeData['effect'];
  doc: string | null;
  region: string;
  index: number;
  inputs: Input[];
  outputs: Port[];
  /** The function that it calls or takes a reference to. */
  callee: string | null;
  /** The regions that it owns, by ref. */
  regions: string[];
  holes: number;
  findings: Finding[];
  /** What became of it; absent where it is the same, and in a graph that is no difference. */
  change?: Change;
}

/** A region of the graph. */
export interface GraphRegion {
  ref: string;
  title: string;
  /** The node that owns it; null for the body and for contracts. */
  owner: string | null;
  params: Param[];
  /** Its nodes in order. */
  nodes: string[];
  /** What became of it, as of a node. */
  change?: Change;
}

/** A value on its way to an input, or the order in which two nodes with effects run. */
export type Edge = (
  { kind: 'data'; source: Source; to: string; port: number; type: string } | { kind: 'order'; from: string; to: string }
) & { sign: Sign | null };

/** A function as a graph. */
export interface Graph {
  nodes: ReadonlyMap<string, GraphNode>;
  regions: ReadonlyMap<string, GraphRegion>;
  params: Param[];
  /** The regions that no node owns, in the order in which they are read: contracts, then the body. */
  roots: string[];
  /** The body; null for an imported function. */
  body: string | null;
  /** The nodes that take a value of each node, in order. */
  users: ReadonlyMap<string, readonly string[]>;
  edges: readonly Edge[];
}

const CONTROL = new Set(
  'BLOCK BREAK BREAK_IF BR_SWITCH CONTINUE CONTINUE_IF IF LOOP MATCH RETURN UNREACHABLE YIELD'.split(' '),
);
const CALLS = new Set(['CALL', 'CALL_INDIRECT', 'CLOSURE_CALL', 'CLOSURE_NEW', 'FUNC_REF']);

function kindOf({ opcode, effect }: NodeData): Kind {
  if (opcode === 'CONST') return 'const';
  if (CONTROL.has(opcode)) return 'control';
  if (CALLS.has(opcode)) return 'call';
  return effect === 'PURE' || effect === 'TRAPS' ? 'compute' : 'effect';
}

/** Names by ref, of everything that an operator can mention. */
function namesOf(head: Head, names: Names, nodes: readonly NodeData[], regions: readonly RegionData[]) {
  const found = new Map<string, string>();
  for (const { ref, name, fields, variants } of names.types?.nodes ?? []) {
    found.set(ref, name);
    for (const part of [...fields, ...variants]) found.set(part.ref, part.name);
  }
  for (const { ref, name } of names.storage?.nodes ?? []) found.set(ref, name);
  for (const { ref, name } of head.vars) found.set(ref, name ?? ref);
  for (const { ref, name } of head.callees?.nodes ?? []) found.set(ref, name);
  found.set(head.ref, head.name);
  for (const { ref, label } of nodes) if (label) found.set(ref, label);
  // Exits name the owner of the region that they leave; people know that by the region's label.
  for (const { label, ownerNode } of regions) if (label && ownerNode) found.set(ownerNode.ref, label);
  return found;
}

/** Puts names in place of refs, but not within the text of a constant. */
export function readable(op: string, names: ReadonlyMap<string, string>): string {
  const quote = op.indexOf('"');
  const [code, text] = quote < 0 ? [op, ''] : [op.slice(0, quote), op.slice(quote)];
  return code.replaceAll(/\b[a-z]\d+\b/g, (ref) => names.get(ref) ?? ref) + text;
}

/** A constant without the operator: its type stands at its output. */
function shortened(title: string): string {
  return title.replace(/^const\.\S+ /, '');
}

/** What inputs that are one of many are called: arguments by the callee, fields by the type. */
interface Many {
  arguments: readonly { name: string }[] | undefined;
  fields: readonly { name: string }[] | undefined;
}

/** `arguments2` is the position of one of many, which the callee or the type has a name for, or nobody. */
function portName(name: string, index: number, many: Many): string {
  const [, list, at] = /^(\w*?)(\d+)$/.exec(name) ?? [];
  if (list === undefined) return name;
  if (list === 'arguments') return many.arguments?.[Number(at)]?.name ?? String(index);
  if (list === 'fields') return many.fields?.[Number(at)]?.name ?? '';
  return '';
}

function sourceOf(source: NodeData['inputs'][number]['source']): Source | null {
  switch (source?.__typename) {
    case undefined:
      return null;
    case 'NodeOutput':
      return { kind: 'node', ref: source.node.ref, port: source.port };
    case 'ParamSource':
      return { kind: 'param', index: source.param.index };
    case 'RegionParamSource': {
      const { region, index } = source.regionParam;
      return { kind: 'regionParam', region: region.ref, index };
    }
  }
}

/** Adds to the list of a key. */
function add<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function findingsByNode({ diagnostics }: Head): Map<string, Finding[]> {
  const found = new Map<string, Finding[]>();
  for (const { code, message, severity, details } of diagnostics?.nodes ?? []) {
    if (!details?.node) continue;
    const finding = { code, message, error: severity === 'ERROR', port: details.port };
    add(found, details.node, finding);
  }
  return found;
}

const ROLES: Record<RegionData['role'], string> = {
  BODY: 'body',
  CASE: 'case',
  CONTRACT: 'contract',
  DEFAULT: 'default',
  ELSE: 'else',
  THEN: 'then',
};

/** What the cases of a `match` are for, in order, from its operator: `match (t3.d9, 7, default) -> (i64)`. */
function casesOf(title: string): string[] {
  const listed = /^match \(([^)]*)\)/.exec(title)?.[1] ?? '';
  return listed.split(',').flatMap((each) => {
    const name = each.trim().replace(/^.*\./, '');
    return name === '' || name === 'default' ? [] : [name];
  });
}

/** The parameters of a region as its text has them. */
function paramList(params: readonly Param[]): string {
  return params.length > 0 ? ` (${params.map(({ name }) => name).join(', ')})` : '';
}

/** Makes the graph of a function of all its parts. */
export function graphOf(head: Head, names: Names, nodes: readonly NodeData[], regions: readonly RegionData[]): Graph {
  const known = namesOf(head, names, nodes, regions);
  const findings = findingsByNode(head);
  const callees = new Map((head.callees?.nodes ?? []).map((callee) => [callee.ref, callee.params]));
  callees.set(head.ref, head.params);
  const types = new Map((names.types?.nodes ?? []).map(({ ref, fields }) => [ref, fields]));
  const owned = new Map<string, string[]>();
  for (const { ref, ownerNode } of regions) if (ownerNode) add(owned, ownerNode.ref, ref);

  const graph = new Map<string, GraphNode>();
  const members = new Map<string, NodeData[]>();
  const users = new Map<string, string[]>();
  for (const node of nodes) {
    const callee = /^(?:call|func\.ref|closure\.new) (f\d+)/.exec(node.op)?.[1] ?? null;
    const made = /^struct\.new (t\d+)/.exec(node.op)?.[1];
    const many: Many = {
      arguments: callee === null ? undefined : callees.get(callee),
      fields: made === undefined ? undefined : types.get(made),
    };
    const inputs = node.inputs.map(({ index, name, expectedType, source }) => ({
      index,
      name: portName(name, index, many),
      type: expectedType,
      source: sourceOf(source),
    }));
    for (const { source } of inputs) if (source?.kind === 'node') add(users, source.ref, node.ref);
    const title = readable(node.op, known);
    graph.set(node.ref, {
      ref: node.ref,
      label: node.label,
      title: node.opcode === 'CONST' ? shortened(title) : title,
      op: node.op,
      kind: kindOf(node),
      effect: node.effect,
      doc: node.doc,
      region: node.region.ref,
      index: node.index,
      inputs,
      outputs: node.outputs,
      callee,
      regions: owned.get(node.ref) ?? [],
      holes: inputs.filter(({ source }) => source === null).length,
      findings: findings.get(node.ref) ?? [],
    });
    add(members, node.region.ref, node);
  }

  const contracts = new Map(head.contracts.map((contract) => [contract.region.ref, contract]));
  const cases = new Map([...graph.values()].map(({ ref, title }) => [ref, casesOf(title)]));
  const all = new Map<string, GraphRegion>();
  // Regions of one node come in the order in which its operator has them.
  for (const { ref, role, label, ownerNode, params } of regions) {
    const contract = contracts.get(ref);
    const inOrder = (members.get(ref) ?? []).sort((a, b) => a.index - b.index);
    const named = params.map(({ index, name, type }) => ({ index, name: name ?? String(index), type }));
    const which = role === 'CASE' && ownerNode ? cases.get(ownerNode.ref)?.shift() : undefined;
    const words = [ROLES[role], which, label].filter(Boolean).join(' ');
    all.set(ref, {
      ref,
      title: contract
        ? `${contract.kind.toLowerCase()} “${contract.message}”`
        : which
          ? words + paramList(named)
          : words,
      owner: ownerNode?.ref ?? null,
      params: named,
      nodes: inOrder.map(({ ref }) => ref),
    });
  }
  const body = head.body?.ref ?? null;
  const roots = [...head.contracts.map(({ region }) => region.ref), ...(body ? [body] : [])].filter((ref) =>
    all.has(ref),
  );
  return { nodes: graph, regions: all, params: head.params, roots, body, users, edges: edgesOf(graph, all) };
}

/** Values by the node that takes them, then the order of effects by region. */
function edgesOf(nodes: Graph['nodes'], regions: Graph['regions']): Edge[] {
  const values = [...nodes.values()].flatMap(({ ref, inputs }) =>
    inputs.flatMap(({ index, type, source }): Edge[] =>
      source ? [{ kind: 'data', source, to: ref, port: index, type, sign: null }] : [],
    ),
  );
  const order = [...regions.values()].flatMap((region) => {
    const effects = region.nodes.filter((ref) => nodes.get(ref)?.effect !== 'PURE');
    return effects.slice(1).map((to, at): Edge => ({ kind: 'order', from: effects[at] ?? to, to, sign: null }));
  });
  return [...values, ...order];
}

/** What became of a thing, for somebody who does not see it; empty where that is nothing. */
export function spokenChange(change: Change | undefined): string {
  if (!change) return '';
  const altered = change.altered.map(
    ({ what, was, is }) => `${what} was ${was ?? 'nothing'} and is ${is ?? 'nothing'}`,
  );
  return [change.sign, ...altered].join(', ');
}

/** What a node is called for somebody who does not see it. */
export function spoken({ ref, label, title, kind, outputs, holes, findings, change }: GraphNode): string {
  const types = outputs.map(({ type }) => type).join(', ');
  return [
    spokenChange(change),
    label ? `${label} = ${title}` : kind === 'const' ? `constant ${title}` : title,
    types && `gives ${types}`,
    holes > 0 && (holes === 1 ? 'has a hole' : `has ${holes} holes`),
    findings.length > 0 && `${findings.length === 1 ? '1 diagnostic' : `${findings.length} diagnostics`}`,
    ref,
  ]
    .filter(Boolean)
    .join(', ');
}
