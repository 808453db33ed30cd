import { expect, test } from 'vitest';

import { layered, TALL, type Item } from './layers';

const GAPS = { within: 4, between: 20, stagger: 3 };
const items = (ids: readonly string[], width = 40, height = 10): Item[] => ids.map((id) => ({ id, width, height }));
const links = (...pairs: string[]) =>
  pairs.map((pair) => {
    const [from = '', to = ''] = pair.split(' ');
    return { from, to };
  });
const columns = (ids: readonly string[], ...pairs: string[]) => {
  const { places } = layered(items(ids), links(...pairs), GAPS);
  return Object.fromEntries(ids.map((id) => [id, places.get(id)?.x]));
};

test('what calls stands left of what is called', () => {
  expect(columns(['c', 'b', 'a'], 'a b', 'b c', 'a c')).toEqual({ a: 0, b: 60, c: 120 });
});

test('what calls each other stands together, what has no calls last', () => {
  expect(columns(['a', 'b', 'c', 'alone'], 'a b', 'b a', 'b c', 'gone a')).toEqual({ a: 0, b: 0, c: 60, alone: 120 });
});

test('nothing stands on anything else, and all is inside', () => {
  const ids = Array.from({ length: 300 }, (_, at) => `f${at}`);
  const sized = ids.map((id, at) => ({ id, width: 20 + (at % 7) * 10, height: 8 + (at % 5) * 9 }));
  const pairs = ids.slice(1).map((id, at) => ({ from: ids[(at * 7) % (at + 1)] ?? '', to: id }));
  const { places, width, height } = layered(sized, pairs, GAPS);
  const boxes = sized.map((item) => ({ ...item, ...(places.get(item.id) ?? { x: NaN, y: NaN }) }));
  for (const a of boxes) {
    expect(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height).toBe(true);
    const on = boxes.filter(
      (b) => b !== a && a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height,
    );
    expect(on).toEqual([]);
  }
});

test('a long chain goes on below, as lines of a text do', () => {
  const ids = Array.from({ length: 2_000 }, (_, at) => `f${at}`);
  const pairs = ids.slice(1).map((id, at) => ({ from: `f${at}`, to: id }));
  const { width, height } = layered(items(ids), pairs, GAPS);
  expect(width / height).toBeGreaterThan(1);
  expect(width / height).toBeLessThan(3);
});

test('on a telephone two columns stand side by side, so that names can be read', () => {
  const named = items(['a', 'b', 'c'], 170, 20);
  const gaps = { within: 6, between: 40, stagger: 14 };
  const { width, places } = layered(named, links('a b', 'b c'), gaps, TALL);
  expect(width).toBe(380);
  expect(['a', 'b', 'c'].map((id) => places.get(id)?.x)).toEqual([0, 210, 0]);
});

test('nothing takes no room', () => {
  expect(layered([], [], GAPS)).toEqual({ places: new Map(), width: 0, height: 0 });
});
