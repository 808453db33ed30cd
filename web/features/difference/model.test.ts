import { expect, test } from 'vitest';

import type { Graph } from '../function';
import { chain, graph, head, region, type Given } from '../function/testing';
import { aboutFunction, differing, interleaved, opened, tallyOf, unionOf } from './model';

const BODY = [region('g1', 'BODY', null)];
/** `x + 2`, then minus one, then given back. */
const BEFORE: Given[] = [
  { ref: 'n1', op: 'const.i64 2', region: 'g1' },
  { ref: 'n2', op: 'add.i64', region: 'g1', takes: ['p0', 'n1'], label: 'sum' },
  { ref: 'n3', op: 'div_s.i64', region: 'g1', takes: ['n2', 'n1'], effect: 'TRAPS' },
  { ref: 'n4', op: 'return', region: 'g1', takes: ['n3'], gives: [], effect: 'CONTROL' },
];
/** `x * 3`, called `total`, and given back. */
const AFTER: Given[] = [
  { ref: 'n1', op: 'const.i64 3', region: 'g1' },
  { ref: 'n5', op: 'mul.i64', region: 'g1', takes: ['p0', 'n1'] },
  { ref: 'n2', op: 'add.i64', region: 'g1', takes: ['n5', 'n1'], label: 'total' },
  { ref: 'n4', op: 'return', region: 'g1', takes: ['n2'], gives: [], effect: 'CONTROL' },
];
const none: ReadonlySet<string> = new Set();

const union = (before: Graph | null, after: Graph | null, modified = none) => unionOf({ before, after }, modified);
const told = (graph: Graph) =>
  differing(graph).map(({ ref, change }) => {
    const altered = change?.altered.map(({ what, was, is }) => `${what}: ${was} → ${is}`) ?? [];
    return [ref, change?.sign, ...altered].join(' | ');
  });
const edges = (graph: Graph) =>
  graph.edges.flatMap((edge) => {
    if (!edge.sign) return [];
    const from = edge.kind === 'order' ? edge.from : edge.source.kind === 'node' ? edge.source.ref : edge.source.kind;
    return [`${edge.sign} ${edge.kind} ${from} ${edge.to}`];
  });

test('nodes of both sides are told by what became of them, and from what to what', () => {
  const both = union(graph(BEFORE, BODY), graph(AFTER, BODY));
  expect(told(both)).toEqual([
    'n1 | changed | value: 2 → 3',
    'n5 | added',
    'n2 | changed | input a: x → mul.i64 n5 | name: sum → total',
    'n3 | removed',
    'n4 | changed | input a: div_s.i64 n3 → total n2',
  ]);
  expect(tallyOf(both)).toEqual({
    nodes: { added: 1, removed: 1, changed: 3 },
    edges: { added: 4, removed: 5, changed: 0 },
    same: 0,
  });
});

test('edges of both sides are there, of values and of the order', () => {
  expect(edges(union(graph(BEFORE, BODY), graph(AFTER, BODY)))).toEqual([
    'added data param n5',
    'added data n1 n5',
    'added data n5 n2',
    'added data n2 n4',
    'removed data param n2',
    'removed data n2 n3',
    'removed data n1 n3',
    'removed data n3 n4',
    'removed order n3 n4',
  ]);
});

test('what is gone stands behind what stood before it', () => {
  expect(union(graph(BEFORE, BODY), graph(AFTER, BODY)).regions.get('g1')?.nodes).toEqual([
    'n1',
    'n5',
    'n2',
    'n3',
    'n4',
  ]);
  expect(interleaved(['a', 'b', 'c', 'd'], ['d', 'x', 'b'], new Set(['a', 'c']))).toEqual(['a', 'd', 'x', 'b', 'c']);
});

test('the same on both sides differs in nothing', () => {
  const both = union(graph(BEFORE, BODY), graph(BEFORE, BODY));
  expect([told(both), edges(both)]).toEqual([[], []]);
});

test('of a function that is on one side only everything is added or removed', () => {
  const added = union(null, graph(AFTER, BODY));
  expect(tallyOf(added)).toEqual({
    nodes: { added: 4, removed: 0, changed: 0 },
    edges: { added: 5, removed: 0, changed: 0 },
    same: 0,
  });
  expect(added.params.map(({ sign }) => sign)).toEqual(['added']);
  const removed = union(graph(BEFORE, BODY), null);
  expect([removed.body, removed.roots]).toEqual(['g1', ['g1']]);
  expect(tallyOf(removed).nodes).toEqual({ added: 0, removed: 4, changed: 0 });
});

test('ports that came and went stand at their node', () => {
  const call = (takes: string[]): Given[] => [{ ref: 'n1', op: 'call f2', region: 'g1', takes }];
  const both = union(graph(call(['p0', 'p0']), BODY), graph(call(['?']), BODY));
  const ports = both.nodes.get('n1')?.inputs.map(({ name, sign, source }) => `${name} ${sign} ${source?.kind}`);
  expect(ports).toEqual(['0 changed undefined', '1 removed param']);
  expect(told(both)).toEqual(['n1 | changed | input 0: x → a hole | input 1: x → null']);
});

test('parameters are the same by their name, wherever they stand', () => {
  const x = { index: 0, name: 'x', type: 'i64' };
  const y = { index: 1, name: 'y', type: 'i64' };
  const before = graph([{ ref: 'n1', op: 'neg.i64', region: 'g1', takes: ['p0'] }], BODY, { params: [x, y] });
  const params = [
    { ...x, name: 'z' },
    { ...x, index: 1, type: 'i32' },
  ];
  const after = graph([{ ref: 'n1', op: 'neg.i64', region: 'g1', takes: ['p1'] }], BODY, { params });
  const both = union(before, after);
  expect(both.params.map(({ index, name, sign, was }) => [index, name, sign, was])).toEqual([
    [0, 'z', 'added', undefined],
    [1, 'x', 'changed', 'x: i64'],
    [2, 'y', 'removed', undefined],
  ]);
  expect([told(both), edges(both)]).toEqual([[], []]);
});

test('a region that is gone stands in its owner, with the nodes that are gone with it', () => {
  const nodes = (inner: string): Given[] => [
    { ref: 'n1', op: 'if', region: 'g1', takes: ['p0'], effect: 'CONTROL' },
    { ref: 'n2', op: 'neg.i64', region: inner, takes: ['p0'] },
  ];
  const before = graph(
    [...nodes('g3'), { ref: 'n3', op: 'neg.i64', region: 'g3', takes: ['n2'] }],
    [...BODY, region('g2', 'THEN', 'n1'), region('g3', 'ELSE', 'n1')],
  );
  const after = graph(nodes('g2'), [...BODY, region('g2', 'THEN', 'n1')]);
  const both = union(before, after);
  expect(both.nodes.get('n1')?.regions).toEqual(['g2', 'g3']);
  expect(both.regions.get('g3')).toMatchObject({ nodes: ['n3'], change: { sign: 'removed' } });
  expect(told(both)).toEqual([
    'n1 | changed | regions: then, else → then',
    'n2 | changed | place: else of if n1 → then of if n1',
    'n3 | removed',
  ]);
});

test('a node that the server tells as moved says where it stands', () => {
  const other = [BEFORE[1], BEFORE[0], BEFORE[2], BEFORE[3]].filter((node) => node !== undefined);
  expect(told(union(graph(BEFORE, BODY), graph(other, BODY), new Set(['n1'])))).toEqual([
    'n1 | changed | place: 1 → 2, after sum n2',
  ]);
});

test('what is around a difference is open, as far as there is room', () => {
  const long = chain(5_000);
  const moved = unionOf({ before: long, after: long }, new Set(['n250', 'n4000']));
  expect([...opened(moved)]).toEqual([
    ['g1.s4', false],
    ['g1', false],
  ]);
  expect([...opened(union(null, long)).keys()]).toEqual(['g1.s0', 'g1']);
});

test('what differs beside the nodes is told of the function', () => {
  const before = head();
  const after = head({
    path: 'm::g',
    doc: 'Why.',
    vars: [{ ref: 'v1', name: 'n', type: 'i32' }],
    contracts: [{ ref: 'k1', kind: 'REQUIRE', message: 'some', region: { ref: 'g2' } }],
  });
  expect(aboutFunction({ before, after }).map(({ what, was, is }) => `${what}: ${was} → ${is}`)).toEqual([
    'path: m::f → m::g',
    'comment: null → Why.',
    'variable v1: null → n: i32',
    'contract k1: null → require “some”',
  ]);
  expect(aboutFunction({ before: null, after })).toEqual([]);
});
