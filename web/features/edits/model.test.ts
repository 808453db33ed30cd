import { expect, test } from 'vitest';

import { after, EMPTY, headline, touchedPlaces, type Change, type Feed, type Item } from './model';

function item(number: number, more: Partial<Item> = {}): Item {
  return {
    id: `R${number}`,
    number,
    kind: 'EDIT',
    branch: 'main',
    message: null,
    createdAt: '2026-01-01T00:00:00Z',
    onBehalfOf: null,
    checkpoint: null,
    undone: false,
    actor: { name: 'planner', kind: 'AGENT', client: null },
    target: null,
    changed: { added: 1, modified: 0, removed: 0, functions: 1 },
    touched: { totalCount: 0, nodes: [] },
    ...more,
  };
}

const all = (changes: readonly Change[], from: Feed = EMPTY) => changes.reduce(after, from);
const numbers = (items: readonly Item[]) => items.map(({ number }) => number);
const started: Change = { type: 'started', items: [item(1), item(2)], head: 2 };
const arrived = (number: number, more?: Partial<Item>): Change => ({
  type: 'arrived',
  item: item(number, more),
  touched: [`n${number}`],
});

test('what arrives stands first and lights up', () => {
  const feed = all([started, arrived(3)]);
  expect(numbers(feed.items)).toEqual([3, 2, 1]);
  expect([feed.head, feed.light]).toEqual([3, { turn: 1, refs: ['n3'] }]);
});

test('what arrives twice stands once', () => {
  const feed = all([started, arrived(3), arrived(3)]);
  expect([numbers(feed.items), feed.light.turn]).toEqual([[3, 2, 1], 1]);
});

test('other branches, checkpoints and branches leave the head where it is', () => {
  const feed = all([started, arrived(3, { branch: 'idea' }), arrived(4, { kind: 'CHECKPOINT' })]);
  expect([feed.head, numbers(feed.items)]).toEqual([2, [4, 3, 2, 1]]);
});

test('revisions of other branches stand among those of main as far as these are loaded', () => {
  const beside: Change = { type: 'beside', items: [item(12, { branch: 'idea' }), item(4, { branch: 'idea' })] };
  const feed = all([{ type: 'started', items: [item(13), item(11), item(9)], head: 13 }, beside]);
  expect([numbers(feed.items), feed.head]).toEqual([[13, 12, 11, 9], 13]);
  const more = after(feed, { type: 'older', items: [item(8), item(3)] });
  expect([numbers(more.items), more.beside]).toEqual([[13, 12, 11, 9, 8, 4, 3], []]);
  // What has come by itself meanwhile and waits goes on waiting.
  const paused = all([started, { type: 'paused' }, arrived(5, { branch: 'idea' })]);
  const waits = after(paused, { type: 'beside', items: [item(5, { branch: 'idea' })] });
  expect([numbers(waits.items), numbers(waits.waiting)]).toEqual([[2, 1], [5]]);
});

test('a pause keeps the picture still and counts; going on shows everything', () => {
  const paused = all([started, { type: 'paused' }, arrived(3), arrived(4)]);
  expect([paused.head, numbers(paused.items), numbers(paused.waiting)]).toEqual([2, [2, 1], [4, 3]]);
  const resumed = after(paused, { type: 'resumed' });
  expect([resumed.head, numbers(resumed.items), resumed.waiting]).toEqual([4, [4, 3, 2, 1], []]);
});

test('names that change are shown at once, and after a pause when it goes on', () => {
  const shown = all([started, { type: 'named' }]);
  expect(shown.names).toEqual({ changes: 1, shown: 1 });
  const paused = all([{ type: 'paused' }, { type: 'named' }, { type: 'named' }], shown);
  expect(paused.names).toEqual({ changes: 3, shown: 1 });
  expect(after(paused, { type: 'resumed' }).names).toEqual({ changes: 3, shown: 3 });
});

const connected: Change = { type: 'status', status: 'connected' };
const lost: Change = { type: 'status', status: 'reconnecting' };

test('after a lost connection it is told how much was caught up, once all is there', () => {
  const behind = all([started, connected, lost, connected, arrived(3), { type: 'until', head: 4 }]);
  expect([behind.caughtUp, behind.catching]).toEqual([null, { count: 1, until: 4 }]);
  const there = after(behind, arrived(4));
  expect([there.caughtUp, there.catching]).toEqual([2, null]);
  expect(after(there, arrived(5)).caughtUp).toBe(2);
  expect(after(there, { type: 'noticed' }).caughtUp).toBe(null);
});

test('a lost connection in which nothing happened says so', () => {
  expect(all([started, connected, lost, connected, { type: 'until', head: 2 }]).caughtUp).toBe(0);
});

test('the first connection is no reconnection', () => {
  const feed = all([started, connected, { type: 'until', head: 9 }]);
  expect([feed.catching, feed.caughtUp]).toEqual([null, null]);
});

test('what is caught up during a pause counts too', () => {
  const feed = all([started, connected, { type: 'paused' }, lost, connected, { type: 'until', head: 3 }, arrived(3)]);
  expect([feed.caughtUp, feed.head]).toEqual([1, 2]);
});

test('places are functions first, the most touched before the others', () => {
  const f2 = { ref: 'f2', path: 'm::g' };
  const node = (ref: string, owner: { ref: string; path: string }) => ({
    ref,
    kind: 'NODE' as const,
    change: 'ADDED' as const,
    path: owner.path,
    entity: { __typename: 'ComputeNode' as const, owner },
  });
  const nodes = [
    {
      ref: 'm1',
      kind: 'MODULE' as const,
      change: 'MODIFIED' as const,
      path: 'm',
      entity: { __typename: 'Module' as const },
    },
    { ref: 'n9', kind: 'NODE' as const, change: 'REMOVED' as const, path: null, entity: null },
    node('n1', { ref: 'f1', path: 'm::f' }),
    node('n2', f2),
    node('n3', f2),
  ];
  expect(touchedPlaces({ touched: { totalCount: 5, nodes } as Item['touched'] })).toEqual([
    { function: 'f2', type: null, path: 'm::g', refs: ['n2', 'n3'] },
    { function: 'f1', type: null, path: 'm::f', refs: ['n1'] },
    { function: null, type: null, path: 'm', refs: ['m1'] },
  ]);
});

test('fields and variants are places of their type', () => {
  const nodes = [
    { ref: 't2', kind: 'TYPE', change: 'MODIFIED', path: 'm::T', entity: null },
    { ref: 'd3', kind: 'TYPE', change: 'ADDED', path: 'm::T.x', entity: null },
  ];
  expect(touchedPlaces({ touched: { totalCount: 2, nodes } as unknown as Item['touched'] })).toEqual([
    { function: null, type: 'm::T', path: 'm::T', refs: ['t2', 'd3'] },
  ]);
});

test('a function that is gone is told by its ref', () => {
  const nodes = [
    { ref: 'f3', kind: 'FUNCTION', change: 'REMOVED', path: null, entity: null },
    { ref: 'n9', kind: 'NODE', change: 'REMOVED', path: null, entity: null },
  ];
  expect(touchedPlaces({ touched: { totalCount: 2, nodes } as unknown as Item['touched'] })).toEqual([
    { function: null, type: null, path: 'function f3, removed', refs: ['f3'] },
  ]);
});

test('a revision without a message says what it did', () => {
  expect(headline(item(3, { kind: 'UNDO', target: { number: 1 } }))).toBe('Went back to r1');
  expect(headline(item(3, { message: 'Rounds up' }))).toBe('Rounds up');
  expect(headline(item(2, { kind: 'IMPORT', message: null }))).toBe('Took a module in');
});
