import { expect, test } from 'vitest';

import { beginning, edgeOf, endAt, endsOf, refusal, startAt, startsOf } from './connect';
import { graphOf } from './model';
import { head, nodes, region } from './testing';

const graph = graphOf(
  head(),
  { types: null, storage: null },
  nodes([
    { ref: 'n1', op: 'const.i64 2', region: 'g1' },
    { ref: 'n2', op: 'lt_s.i64', region: 'g1', takes: ['n1', 'p0'], gives: ['bool'], label: 'cheap' },
    { ref: 'n3', op: 'loop', region: 'g1', takes: ['n1'], gives: ['i64', 'i64'] },
    { ref: 'n4', op: 'add.i64', region: 'g2', takes: ['g2.0', '?'] },
    { ref: 'n5', op: 'continue n3', region: 'g2', takes: ['n4'], gives: [] },
    { ref: 'n6', op: 'return', region: 'g1', takes: ['n3'], gives: [] },
  ]),
  [region('g1', 'BODY', null), region('g2', 'BODY', 'n3', ['at'])],
);
const start = (box: string, port = 0) => startAt(graph, box, port)!;
const end = (node: string, port = 0) => endAt(graph, node, port)!;
const why = (from: string, to: string, port = 0) => refusal(graph, start(from), end(to, port));

test('values and inputs are told by what is drawn', () => {
  expect(startsOf(graph).map(({ box, port, label }) => `${box} ${port} ${label}`)).toEqual([
    'function.params 0 x',
    'g2.params 0 at g2',
    'n1 0 2 n1',
    'n2 0 cheap',
    'n3 0 loop n3 · 0',
    'n3 1 loop n3 · 1',
    'n4 0 add.i64 n4',
  ]);
  expect(endsOf(graph).find(({ now }) => now === null)).toMatchObject({ node: 'n4', port: 1, type: 'i64' });
});

test('what does not fit is refused before it is tried', () => {
  expect(why('n1', 'n4', 1)).toBe(null);
  expect(why('function.params', 'n4', 1)).toBe(null);
  expect(why('g2.params', 'n4', 1)).toBe(null);
  expect(why('n2', 'n4', 1)).toBe('takes i64, not bool');
  expect(why('n1', 'n2')).toBe('is connected already');
  expect(why('n3', 'n2')).toBe('comes before it');
  // A loop does not take its own result within itself; what is inside is not seen outside.
  expect(why('n3', 'n4', 1)).toBe('comes before it');
  expect(why('n4', 'n6')).toBe('is outside of its region');
  expect(why('g2.params', 'n6')).toBe('is outside of its region');
});

test('the edit names the value as it can be named', () => {
  const to = { to: 'n4', targetPort: 1, replace: false };
  expect(edgeOf(graph, start('n1'), end('n4', 1))).toEqual({ addEdge: { from: 'n1', ...to } });
  expect(edgeOf(graph, start('function.params'), end('n4', 1))).toEqual({ addEdge: { from: 'x', ...to } });
  expect(edgeOf(graph, start('g2.params'), end('n4', 1))).toEqual({ addEdge: { from: 'g2.0', ...to } });
  expect(edgeOf(graph, start('n3', 1), end('n6'))).toEqual({
    addEdge: { from: 'n3', sourcePort: 1, to: 'n6', targetPort: 0, replace: true },
  });
});

test('by keyboard a node gives its value, or takes one where it has a hole', () => {
  expect(beginning(graph, 'n1')).toMatchObject({ start: { box: 'n1' }, end: undefined });
  expect(beginning(graph, 'n4')).toMatchObject({ start: undefined, end: { node: 'n4', port: 1 } });
  expect(beginning(graph, 'n6')).toMatchObject({ start: undefined, end: { node: 'n6', port: 0 } });
  expect(beginning(graph, null)).toEqual({ start: undefined, end: undefined });
});
