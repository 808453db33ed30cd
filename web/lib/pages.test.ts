import { expect, test } from 'vitest';

import { afterPage, type Pages } from './pages';

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
