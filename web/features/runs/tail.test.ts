import { expect, test } from 'vitest';

import { changingAfter, NOTHING, withPart, type Part, type Tail } from './tail';

type Item = { id: string; endedAt: string | null };
const keyOf = ({ id }: Item) => id;
const hasEnded = ({ endedAt }: Item) => endedAt !== null;
const part = (ids: string, hasNextPage = false): Part<Item> => {
  const edges = ids.split(' ').map((name) => {
    const id = name.replace('*', '');
    return { cursor: `after ${id}`, node: { id, endedAt: name.endsWith('*') ? null : 'then' } };
  });
  return { totalCount: edges.length, pageInfo: { hasNextPage, endCursor: edges.at(-1)?.cursor ?? null }, edges };
};
const told = ({ edges = [] }: Tail<Item>) => edges.map(({ node }) => node.id + (node.endedAt ? '' : '*')).join(' ');

test('parts follow one another', () => {
  const first = withPart(NOTHING as Tail<Item>, null, part('a b', true), keyOf);
  expect([told(first), first.next]).toEqual(['a b', 'after b']);
  const both = withPart(first, first.next, part('c d'), keyOf);
  expect([told(both), both.next]).toEqual(['a b c d', null]);
});

test('what had not ended is told again with what is new', () => {
  const before = withPart(NOTHING as Tail<Item>, null, part('a b* c*'), keyOf);
  expect(changingAfter(before, hasEnded)).toBe('after a');
  const now = withPart(before, changingAfter(before, hasEnded), part('b c* d*'), keyOf);
  expect(told(now)).toBe('a b c* d*');
});

test('where nothing has ended all is told again, and where all has, what follows', () => {
  expect(changingAfter(withPart(NOTHING as Tail<Item>, null, part('a*'), keyOf), hasEnded)).toBe(null);
  expect(changingAfter(withPart(NOTHING as Tail<Item>, null, part('a b'), keyOf), hasEnded)).toBe('after b');
  expect(changingAfter(NOTHING as Tail<Item>, hasEnded)).toBe(null);
});

test('what was taken back is gone when the list begins anew', () => {
  const before = withPart(NOTHING as Tail<Item>, null, part('a b c'), keyOf);
  expect(told(withPart(before, null, part('a'), keyOf))).toBe('a');
});
