import { expect, test } from 'vitest';

import { mapOf } from './model';
import { pictureOf, placesOf, radiusOf, ratioFor, standingFor, type Sight, beginningOf } from './picture';
import { program } from './testing';

const map = mapOf(
  ...program({
    modules: { m1: 'app', m2: 'zoo' },
    functions: { f1: 'm1', f2: 'm1', f3: 'm2', f4: 'm2' },
    calls: ['f1 f2', 'f1 f3', 'f2 f3', 'f2 f4'],
    sizes: { f1: 100 },
  }),
);
const places = placesOf(map);
const picture = (...open: string[]) => pictureOf(map, places, new Set(open));
const lines = (...open: string[]) =>
  picture(...open).lines.map(({ from, to, across }) => `${from} ${to}${across ? ' across' : ''}`);

test('calls lead from what is shown to what is shown, each once', () => {
  expect(lines('m1', 'm2')).toEqual(['f1 f2', 'f1 f3 across', 'f2 f3 across', 'f2 f4 across']);
  expect(lines('m1')).toEqual(['f1 f2', 'f1 m2 across', 'f2 m2 across']);
  expect(lines()).toEqual(['m1 m2']);
});

test('opening a module moves nothing', () => {
  const [closed, open] = [picture('m1'), picture('m1', 'm2')];
  expect(closed.boxes.map(({ x, y, width, height }) => [x, y, width, height])).toEqual(
    open.boxes.map(({ x, y, width, height }) => [x, y, width, height]),
  );
  const f1 = ({ marks }: typeof open) => marks.find(({ id }) => id === 'f1');
  expect(f1(closed)).toEqual(f1(open));
});

test('functions stand in the boxes of their modules', () => {
  const { marks, boxes } = picture('m1', 'm2');
  for (const { id, x, y, radius } of marks) {
    const box = boxes.find(({ module }) => module.ref === map.functions.get(id)?.module);
    expect(box && x - radius >= box.x && x + radius <= box.x + box.width).toBe(true);
    expect(box && y - radius >= box.y && y + radius <= box.y + box.height).toBe(true);
  }
});

test('a larger function has a larger mark, up to a bound', () => {
  expect(radiusOf(100)).toBeGreaterThan(radiusOf(1));
  expect(radiusOf(1_000_000)).toBe(24);
});

test('50,000 functions have their places', () => {
  const functions: Record<string, string> = {};
  const modules: Record<string, string> = {};
  const calls: string[] = [];
  for (let at = 0; at < 50_000; at += 1) {
    const module = `m${Math.floor(at / 250)}`;
    modules[module] = module;
    functions[`f${at}`] = module;
    if (at > 0) calls.push(`f${(at * 7919) % at} f${at}`);
  }
  const huge = mapOf(...program({ modules, functions, calls }));
  const all = pictureOf(huge, placesOf(huge), new Set(Object.keys(modules)));
  expect([all.marks.length, all.boxes.length, all.lines.length]).toEqual([50_000, 200, 49_999]);
  expect(all.marks.every(({ x, y }) => x >= 0 && y >= 0 && x <= all.width && y <= all.height)).toBe(true);
});

test('a function of a closed module is stood for by that', () => {
  expect(standingFor(map, new Set(['m1']), ['f1', 'f3', 'f4', 'gone'])).toEqual(['f1', 'm2']);
});

test('a high place shows the upper end of a long picture, as wide as it is', () => {
  const place = { width: 390, height: 600 };
  expect(beginningOf({ width: 428, height: 4000 }, place, 0.14)).toEqual({
    ratio: expect.closeTo(0.175, 3),
    middle: { x: 214, y: expect.closeTo(345.4, 1) },
  });
  // What can be read stays whole, and so does a picture in a wide place.
  expect(beginningOf({ width: 428, height: 700 }, place, 0.79)).toBe(null);
  expect(beginningOf({ width: 428, height: 4000 }, { width: 840, height: 600 }, 0.14)).toBe(null);
});

test('a camera goes to what is found, near enough to read its name', () => {
  const place = { width: 1000, height: 600 };
  const sight = (box: Partial<Sight['box']>, more: Partial<Sight> = {}) =>
    ratioFor({ box: { x: 100, y: 100, width: 0, height: 0, ...box }, place, scale: 0.25, ratio: 1, ...more });
  // One mark, too small to be read: as near as it is clear. One out of sight: there too.
  expect(sight({})).toBeCloseTo(0.2);
  expect(sight({ x: -500 }, { scale: 1, ratio: 0.25 })).toBeCloseTo(0.2);
  // Many, as far as they stand apart.
  expect(sight({ width: 350 })).toBeCloseTo(0.5);
  // What is in sight, and as large as it can be, stays.
  expect(sight({}, { scale: 1, ratio: 0.25 })).toBe(null);
  expect(sight({ x: 0, width: 1000 })).toBe(null);
});
