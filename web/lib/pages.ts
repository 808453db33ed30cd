import type { TypedDocumentNode } from '@urql/core';
import { useEffect, useReducer, useRef } from 'react';
import { useClient } from 'urql';

import { problemOf, type Problem } from './problems';
import { useBack } from './useBack';

/** A page of a list, as the schema has them. */
export interface Page<Item> {
  totalCount: number;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
  nodes: readonly Item[];
}

/** A list as far as it is loaded. */
export interface Pages<Item> {
  /** Absent until the first page is there. What was there stays while another list is on its way. */
  items: readonly Item[] | undefined;
  total: number;
  fetching: boolean;
  problem: Problem | undefined;
  /** Where the next page begins; null at the end. */
  next: string | null;
}

/** What can happen to a list. */
export type PagesChange<Item> =
  | { type: 'asked' }
  | { type: 'page'; first: boolean; page: Page<Item>; keyOf: (item: Item) => string }
  | { type: 'failed'; problem: Problem };

/** The list after something happened. */
export function afterPage<Item>(list: Pages<Item>, change: PagesChange<Item>): Pages<Item> {
  switch (change.type) {
    case 'asked':
      return { ...list, fetching: true, problem: undefined };
    case 'failed':
      return { ...list, fetching: false, problem: change.problem };
    case 'page': {
      const { page, first, keyOf } = change;
      // Where the list has moved, a page repeats what stood before it.
      const items = new Map(first ? [] : list.items?.map((item) => [keyOf(item), item]));
      for (const item of page.nodes) items.set(keyOf(item), item);
      const next = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
      return { items: [...items.values()], total: page.totalCount, fetching: false, problem: undefined, next };
    }
  }
}

/**
 * Reads a list to its end. Where pages end is asked for apart, which is little, so that those behind the first one are on
 * their way together.
 */
export async function allPages<Item>(list: {
  ask(after: string | null): Promise<Page<Item>>;
  endOf(after: string): Promise<Page<Item>['pageInfo']>;
  onPage(done: number, total: number): void;
}): Promise<Item[]> {
  const { ask, endOf, onPage } = list;
  let done = 0;
  const page = async (after: string | null) => {
    const found = await ask(after);
    done += found.nodes.length;
    onPage(done, found.totalCount);
    return found;
  };
  const behind = async ({ hasNextPage, endCursor }: Page<Item>['pageInfo']): Promise<readonly Item[]> => {
    if (!hasNextPage || endCursor === null) return [];
    const [{ nodes }, rest] = await Promise.all([page(endCursor), endOf(endCursor).then(behind)]);
    return [...nodes, ...rest];
  };
  const first = await page(null);
  return [...first.nodes, ...(await behind(first.pageInfo))];
}

/** A list that is loaded page by page, and anew when its variables change. */
export function usePages<Data, Variables extends Record<string, unknown>, Item>(props: {
  document: TypedDocumentNode<Data, Variables>;
  variables: Omit<Variables, 'after'>;
  pageOf: (data: Data) => Page<Item> | null | undefined;
  keyOf: (item: Item) => string;
}): Pages<Item> & { more: (() => void) | undefined; refresh: () => void } {
  const client = useClient();
  const [list, dispatch] = useReducer(afterPage<Item>, {
    items: undefined,
    total: 0,
    fetching: true,
    problem: undefined,
    next: null,
  });
  const turn = useRef(0);
  const key = JSON.stringify(props.variables);

  const load = (cursor: string | null) => {
    const mine = ++turn.current;
    dispatch({ type: 'asked' });
    const variables = { ...props.variables, after: cursor } as unknown as Variables;
    const answer = client.query(props.document, variables, { requestPolicy: 'network-only' }).toPromise();
    void answer.then(({ data, error }) => {
      if (mine !== turn.current) return;
      const page = data && props.pageOf(data);
      if (page) dispatch({ type: 'page', first: cursor === null, page, keyOf: props.keyOf });
      else dispatch({ type: 'failed', problem: problemOf(error) });
    });
  };

  useEffect(() => {
    load(null);
    const turns = turn;
    return () => {
      turns.current += 1;
    };
    // The variables are compared by what they say.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [client, key]);

  // Where something is shown, what failed was the next page.
  useBack(list.problem, () => load(list.items ? list.next : null));

  return {
    ...list,
    more: list.next !== null && !list.fetching ? () => load(list.next) : undefined,
    refresh: () => load(null),
  };
}
