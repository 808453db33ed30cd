// @vitest-environment node
import ELK from 'elkjs/lib/elk.bundled.js';
import { expect, test } from 'vitest';

import { boxesOf, linesOf } from './boxes';
import { alteredOf, asked, fitting, measured, middleOf, pathOf, pictureOf, TITLE, PORTS, writtenIn } from './geometry';
import type { Altered } from './model';
import { choice } from './testing';

async function picture() {
  const graph = choice();
  const boxes = boxesOf(graph, new Map(), null);
  const lines = linesOf(graph, boxes);
  return pictureOf(await new ELK().layout(asked(boxes, lines)), boxes, lines);
}

test('boxes stand within the boxes around them, and every line has a way', async () => {
  const { boxes, routes } = await picture();
  const place = (id: string) => boxes.find(({ box }) => box.id === id) ?? expect.fail(id);
  const within = (inner: string, outer: string) => {
    const [a, b] = [place(inner), place(outer)];
    return a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
  };
  expect(['g2', 'g3'].map((ref) => within(ref, 'n3'))).toEqual([true, true]);
  expect(within('n4', 'g2')).toBe(true);
  expect([place('n3').depth, place('n4').depth]).toEqual([0, 2]);
  expect(routes.length).toBe(9);
  // What is made stands above what takes it.
  expect(place('n2').y).toBeLessThan(place('n3').y);
});

test('a line ends at the port that it leads to', async () => {
  const { boxes, routes } = await picture();
  const target = boxes.find(({ box }) => box.id === 'n4') ?? expect.fail('n4');
  const end = routes.find(({ line }) => line.to === 'n4' && line.kind === 'data')?.points.at(-1);
  const cell = target.inputs[0] ?? expect.fail('a port');
  expect(end?.y).toBeCloseTo(target.y, 0);
  expect(end?.x).toBeCloseTo(target.x + cell.x + cell.width / 2, 0);
});

test('a node is as wide as its ports and its title', () => {
  const [, box] = boxesOf(choice(), new Map(), null);
  const { width, height, outputs } = measured(box ?? expect.fail('a box'));
  // A constant is one line.
  expect([height, outputs.length]).toEqual([26, 0]);
  expect(width).toBeGreaterThan(40);
});

test('long titles are cut off', () => {
  expect(fitting('short')).toBe('short');
  expect(fitting('x'.repeat(60))).toHaveLength(44);
});

test('a port with a long name is no wider than what is written in it', () => {
  const params = [{ index: 0, name: 'n'.repeat(200), type: 't'.repeat(200) }];
  const { width, outputs } = measured({ type: 'params', id: 'g1.params', params });
  expect(writtenIn(params[0] ?? expect.fail('a port')).name).toHaveLength(24);
  expect(width).toBeLessThan(400);
  expect(outputs[0]?.name, 'what lies over it has all').toHaveLength(200);
});

test('paths have round corners', () => {
  const points = [
    { x: 0, y: 0 },
    { x: 0, y: 20 },
    { x: 30, y: 20 },
  ];
  expect(pathOf(points)).toBe('M0,0L0,15Q0,20 5,20L30,20');
});

test('what differs at a node has a row of its own', () => {
  const node = choice().nodes.get('n1') ?? expect.fail('a node');
  const box = (...altered: Altered[]) => ({
    type: 'node' as const,
    id: 'n1',
    node: { ...node, change: { sign: 'changed' as const, altered } },
  });
  const value = { what: 'value', was: '1', is: '2' };
  expect(alteredOf(box(value))).toBe('value: 1 → 2');
  expect(alteredOf(box(value, { what: 'name', was: null, is: 'two' }))).toBe('value: 1 → 2 +1');
  expect(measured(box(value)).height).toBe(TITLE + PORTS);
  expect(measured(box()).height).toBe(TITLE);
});

test('the middle of a line is on its longest stretch', () => {
  const points = [
    { x: 0, y: 0 },
    { x: 0, y: 10 },
    { x: 30, y: 10 },
    { x: 30, y: 20 },
  ];
  expect(middleOf(points)).toMatchObject({ x: 15, y: 10 });
  expect(middleOf(points.slice(0, 1))).toBeNull();
});
