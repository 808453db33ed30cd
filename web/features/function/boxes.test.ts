import { expect, test } from 'vitest';

import { around, boxesOf, linesOf, listed, type Box, type Choices } from './boxes';
import { chain, choice } from './testing';

const none: Choices = new Map();
const tree = (boxes: readonly Box[]) => listed(boxes).map(({ box, parent }) => `${box.id} in ${parent}`);

test('nodes stand in the boxes of their regions', () => {
  expect(tree(boxesOf(choice(), none, null))).toEqual([
    'function.params in null',
    'n1 in null',
    'n2 in null',
    'n3 in null',
    'g2 in n3',
    'n4 in g2',
    'n5 in g2',
    'g3 in n3',
    'n6 in g3',
    'n7 in null',
  ]);
});

test('lines lead from values to ports, and from effect to effect', () => {
  const graph = choice();
  const lines = linesOf(graph, boxesOf(graph, none, null)).map(({ id }) => id);
  expect(lines).toEqual([
    'data function.params 0 n2 0',
    'data n1 0 n2 1',
    'data n2 0 n3 0',
    'data function.params 0 n4 0',
    'data n4 0 n5 0',
    'data n1 0 n6 0',
    'data n3 0 n7 0',
    'order n3  n7 ',
    'order n4  n5 ',
  ]);
});

test('a collapsed box stands for what is in it', () => {
  const graph = choice();
  const boxes = boxesOf(graph, new Map([['n3', true]]), null);
  expect(tree(boxes)).toEqual(['function.params in null', 'n1 in null', 'n2 in null', 'n3 in null', 'n7 in null']);
  const lines = linesOf(graph, boxes).filter(({ to }) => to === 'n3');
  expect(lines.map(({ id, count }) => `${id} × ${count}`)).toEqual([
    'data n2 0 n3 0 × 1',
    'data function.params 0 n3  × 1',
    'data n1 0 n3  × 1',
  ]);
});

test('a long region is cut into segments, of which the first is open', () => {
  const boxes = boxesOf(chain(5_000), none, null);
  const segments = listed(boxes).flatMap(({ box }) => (box.type === 'segment' ? [box] : []));
  expect(segments.length).toBe(84);
  expect(segments.filter(({ collapsed }) => !collapsed).map(({ title }) => title)).toEqual(['nodes 1–60']);
});

test('the segment of a selected node is open instead', () => {
  const graph = chain(5_000);
  const boxes = boxesOf(graph, none, 'n250');
  expect(listed(boxes).some(({ box }) => box.id === 'n250')).toBe(true);
  expect(listed(boxes).some(({ box }) => box.id === 'n0')).toBe(false);
  expect(around(graph, 'n250')).toEqual(['g1.s4', 'g1']);
});

test('a function that is not large is shown whole', () => {
  expect(listed(boxesOf(chain(500), none, null)).length).toBe(501);
});

test('edges between two collapsed boxes are one line', () => {
  const graph = chain(540);
  const lines = linesOf(graph, boxesOf(graph, new Map([['g1.s0', true]]), null));
  expect(lines.map(({ id, count }) => `${id} × ${count}`)).toContain('data g1.s1  g1.s2  × 1');
  expect(lines.length).toBe(9);
});

test('a collapsed box says how many differ in it, and lines of another sign are other lines', () => {
  const graph = choice();
  const nodes = new Map(
    [...graph.nodes].map(([ref, node]) =>
      ref === 'n4' ? [ref, { ...node, change: { sign: 'added' as const, altered: [] } }] : [ref, node],
    ),
  );
  const edges = graph.edges.map((edge) => (edge.to === 'n4' ? { ...edge, sign: 'added' as const } : edge));
  const differs = { ...graph, nodes, edges };
  const boxes = boxesOf(differs, new Map([['n3', true]]), null);
  const counts = listed(boxes).flatMap(({ box }) => (box.type === 'owner' ? [[box.inside, box.changed]] : []));
  expect(counts).toEqual([[3, 1]]);
  expect(linesOf(differs, boxes).map(({ id }) => id)).toContain('data function.params 0 n3  added');
});
