import { expect, test } from 'vitest';

import { boxesOf, listed } from './boxes';
import { inOrder, nextOf, openedBy, stepFrom, stepOf } from './steps';
import { choice, graph as graphOf, region } from './testing';

const graph = choice();

test('nodes in the order of the text', () => {
  expect(inOrder(graph)).toEqual(['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7']);
});

test('keys follow values, the order, and regions', () => {
  const walk = (from: string | null, ...keys: [key: string, shiftKey?: boolean][]) =>
    keys.reduce<string | null>((at, [key, shiftKey = false]) => {
      const step = stepOf({ key, shiftKey });
      return step ? stepFrom(graph, at, step) : at;
    }, from);
  expect(walk(null, ['ArrowDown'])).toBe('n1');
  expect(walk(null, ['End'])).toBe('n7');
  expect(walk('n1', ['ArrowDown'], ['ArrowDown'], ['ArrowDown'])).toBe('n7');
  expect(walk('n2', ['ArrowUp'])).toBe('n1');
  expect(walk('n3', ['ArrowDown', true])).toBe('n4');
  expect(walk('n6', ['ArrowUp', true])).toBe('n3');
  expect(walk('n4', ['ArrowRight'])).toBe('n5');
  expect(walk('n7', ['ArrowRight'])).toBe('n7');
  expect(walk('n3', ['x'])).toBe('n3');
});

test('a tour goes around, and begins at its nearer end', () => {
  const tour = ['a', 'b', 'c'];
  expect([nextOf(tour, 'a', 1), nextOf(tour, 'c', 1), nextOf(tour, 'a', -1)]).toEqual(['b', 'a', 'c']);
  expect([nextOf(tour, null, 1), nextOf(tour, 'x', -1), nextOf([], null, 1)]).toEqual(['a', 'c', null]);
});

test('a call opens what it calls, an owner of regions folds, other nodes open nothing', () => {
  const boxes = (folded: boolean) => listed(boxesOf(graph, new Map([['n3', folded]]), null));
  expect(openedBy(graph, boxes(false), 'n3')).toEqual({ kind: 'fold', collapsed: true });
  expect(openedBy(graph, boxes(true), 'n3')).toEqual({ kind: 'fold', collapsed: false });
  expect([openedBy(graph, boxes(false), 'n1'), openedBy(graph, [], 'n3'), openedBy(undefined, [], 'n3')]).toEqual([
    null,
    null,
    null,
  ]);
  const calls = graphOf([{ ref: 'n1', op: 'call f2', region: 'g1' }], [region('g1', 'BODY', null)]);
  expect(openedBy(calls, [], 'n1')).toMatchObject({ kind: 'callee', callee: 'f2', node: { ref: 'n1' } });
});
