// Functions for tests, as the API tells them.
import { graphOf, type Graph, type Head, type NodeData, type RegionData } from './model';

/** A node of a test: `n3 = add.i64 n1 n2` in a region, with its operands by ref, `?` for a hole and `p0` for a parameter. */
export interface Given {
  ref: string;
  op: string;
  region: string;
  takes?: string[];
  gives?: string[];
  label?: string;
  effect?: NodeData['effect'];
}

function source(text: string): NodeData['inputs'][number]['source'] {
  const param = /^p(\d+)$/.exec(text);
  if (param) return { __typename: 'ParamSource', param: { index: Number(param[1]) } };
  const regionParam = /^(g\d+)\.(\d+)$/.exec(text);
  if (regionParam)
    return {
      __typename: 'RegionParamSource',
      regionParam: { index: Number(regionParam[2]), region: { ref: regionParam[1] ?? '' } },
    };
  return { __typename: 'NodeOutput', node: { ref: text }, port: 0 };
}

/** The nodes of a test as the API tells them; the order of a region is that of the list. */
export function nodes(given: readonly Given[]): NodeData[] {
  return given.map(({ ref, op, region, takes = [], gives = ['i64'], label, effect = 'PURE' }, at) => ({
    ref,
    label: label ?? null,
    op,
    opcode: (op.split(/[ .]/)[0] ?? '').toUpperCase() as NodeData['opcode'],
    effect,
    index: given.slice(0, at).filter((other) => other.region === region).length,
    doc: null,
    region: { ref: region },
    inputs: takes.map((text, index) => ({
      index,
      name: op.startsWith('call') ? `arguments${index}` : op === 'yield' ? `values${index}` : ('ab'[index] ?? 'c'),
      expectedType: 'i64',
      hole: text === '?' ? { expectedType: 'i64' } : null,
      source: text === '?' ? null : source(text),
    })),
    outputs: gives.map((type, index) => ({ index, type })),
  }));
}

/** A region of a test. */
export function region(ref: string, role: RegionData['role'], owner: string | null, params: string[] = []): RegionData {
  return {
    ref,
    label: null,
    role,
    ownerNode: owner === null ? null : { ref: owner },
    params: params.map((name, index) => ({ index, name, type: 'i64' })),
  };
}

/** A function of a test without its nodes: one parameter `x`, the body `g1`. */
export function head(more: Partial<Head> = {}): Head {
  return {
    ref: 'f1',
    path: 'm::f',
    name: 'f',
    signature: '(x: i64) -> (i64)',
    visibility: 'PUBLIC',
    complete: true,
    verified: true,
    effectBound: 'ANY',
    start: false,
    exports: [],
    doc: null,
    contentHash: 'h',
    results: ['i64'],
    text: null,
    import: null,
    module: { path: 'm' },
    body: { ref: 'g1' },
    params: [{ index: 0, name: 'x', type: 'i64' }],
    vars: [],
    contracts: [],
    provenance: null,
    diagnostics: { totalCount: 0, nodes: [] },
    callers: { totalCount: 0, nodes: [] },
    callees: { totalCount: 0, nodes: [] },
    ...more,
  };
}

/** The graph of a test. */
export function graph(given: readonly Given[], regions: readonly RegionData[], more: Partial<Head> = {}): Graph {
  return graphOf(head(more), { types: { nodes: [] }, storage: { nodes: [] } }, nodes(given), regions);
}

/** A choice between two ways: `n3` owns `g2` with `n4` and `n5`, and `g3` with `n6`. */
export function choice(): Graph {
  return graph(
    [
      { ref: 'n1', op: 'const.i64 2', region: 'g1' },
      { ref: 'n2', op: 'gt_s.i64', region: 'g1', takes: ['p0', 'n1'], gives: ['bool'] },
      { ref: 'n3', op: 'if -> (i64)', region: 'g1', takes: ['n2'], label: 'kept', effect: 'CONTROL' },
      { ref: 'n4', op: 'div_s.i64', region: 'g2', takes: ['p0', '?'], effect: 'TRAPS' },
      { ref: 'n5', op: 'yield', region: 'g2', takes: ['n4'], gives: [], effect: 'CONTROL' },
      { ref: 'n6', op: 'yield', region: 'g3', takes: ['n1'], gives: [], effect: 'CONTROL' },
      { ref: 'n7', op: 'return', region: 'g1', takes: ['n3'], gives: [], effect: 'CONTROL' },
    ],
    [region('g1', 'BODY', null), region('g2', 'THEN', 'n3'), region('g3', 'ELSE', 'n3')],
  );
}

/** A function whose body has that many nodes, each of which takes the one before it. */
export function chain(length: number): Graph {
  const given = Array.from({ length }, (_, at) => ({
    ref: `n${at}`,
    op: 'neg.i64',
    region: 'g1',
    takes: [at === 0 ? 'p0' : `n${at - 1}`],
  }));
  return graph(given, [region('g1', 'BODY', null)]);
}
