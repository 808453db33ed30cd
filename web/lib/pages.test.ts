import { expect, test, vi } from 'vitest';

import { afterPage, allPages, type Pages } from './pages';

type Item = { id: string; name: string };
const empty: Pages<Item> = { items: undefined, total: 0, fetching: true, problem: undefined, next: null };
const page = (nodes: Item[], endCursor: string | null) => ({
  totalCount: 3,
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
  nodes,
});
const keyOf = ({ id }: Item) => id;
const a = { id: 'a', name: 'a' };
const b = { id: 'b', name: 'b' };
const c = { id: 'c', name: 'c' };

test('a page follows what was there; nothing stands twice', () => {
  const one = afterPage(empty, { type: 'page', first: true, page: page([a, b], 'x'), keyOf });
  expect([one.items, one.next, one.total]).toEqual([[a, b], 'x', 3]);
  const newer = { id: 'b', name: 'newer' };
  const two = afterPage(one, { type: 'page', first: false, page: page([newer, c], null), keyOf });
  expect([two.items, two.next]).toEqual([[a, newer, c], null]);
});

test('what was there stays until another list arrives', () => {
  const one = afterPage(empty, { type: 'page', first: true, page: page([a], null), keyOf });
  const asked = afterPage(one, { type: 'asked' });
  expect([asked.items, asked.fetching]).toEqual([[a], true]);
  expect(afterPage(asked, { type: 'page', first: true, page: page([c], null), keyOf }).items).toEqual([c]);
});

/** A list of three pages of which the answers come when they are let go. */
function threePages() {
  const asked: string[] = [];
  const held: (() => void)[] = [];
  const progress: number[] = [];
  const ends = new Map([
    ['x', 'y'],
    ['y', null],
  ]);
  const all = allPages<Item>({
    ask: async (after) => {
      asked.push(after ?? 'start');
      if (after !== null) await new Promise<void>((resolve) => held.push(resolve));
      return after === null ? page([a], 'x') : page(after === 'x' ? [b] : [c], ends.get(after) ?? null);
    },
    endOf: async (after) => page([], ends.get(after) ?? null).pageInfo,
    onPage: (done) => progress.push(done),
  });
  return { all, asked, held, progress };
}

test('the pages behind the first one are asked for together, and stand in their order', async () => {
  const { all, asked, held, progress } = threePages();
  await vi.waitFor(() => expect(asked).toEqual(['start', 'x', 'y']));
  expect(progress).toEqual([1]);
  for (const letGo of held.reverse()) letGo();
  expect(await all).toEqual([a, b, c]);
  expect(progress).toEqual([1, 2, 3]);
});

test('a page that fails fails the list', async () => {
  const failed = allPages<Item>({
    ask: async (after) => (after === null ? page([a], 'x') : Promise.reject(new Error('gone'))),
    endOf: async () => page([], null).pageInfo,
    onPage: () => {},
  });
  await expect(failed).rejects.toThrow('gone');
});
