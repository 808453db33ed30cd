import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useClient } from 'urql';

import { HistoryLineDocument } from '../../generated/graphql';
import type { Problem } from '../../lib/problems';
import { useBack } from '../../lib/useBack';
import { openLoader, type Loaded, type Loader } from './loader';
import { merged, shortest, type Item } from './model';

/** What the timeline shows of all that there is. */
export interface Filter {
  author: string | null;
  /** Ref or path of an entity. */
  touching: string | null;
  /** Whether what merges brought in is told, too: it may be of branches that are gone. */
  merged: boolean;
}

/** The timeline as far as it is loaded. */
export interface Timeline {
  /** The newest first; absent until something is there. */
  items: Item[] | undefined;
  problem: Problem | undefined;
  more: (() => void) | undefined;
  refresh(): void;
}

/**
 * Loads the revisions of some branches, and those of a branch again when something arrives on it.
 *
 * Nothing is there before all of them are, since their rows stand among each other; `known` says whether these are all.
 */
export function useTimeline(
  programId: string,
  branches: readonly string[],
  known: boolean,
  filter: Filter,
  arrived: readonly Pick<Item, 'number' | 'branch'>[],
): Timeline {
  const client = useClient();
  const [begun, setBegun] = useState(false);
  const [loaded, setLoaded] = useState<Loaded & { key: string }>();
  const loader = useRef<Loader>(null);
  const asked = useRef<{ branches: Set<string>; newest: number }>({ branches: new Set(), newest: 0 });
  const key = JSON.stringify([programId, filter]);
  const shown = JSON.stringify(branches);
  const newest = arrived[0]?.number ?? 0;

  const open = useEffectEvent(() => {
    const variables = { id: programId, ...filter };
    asked.current = { branches: new Set(), newest };
    return openLoader(
      async (branch, first, after) => {
        const { data, error } = await client
          .query(HistoryLineDocument, { ...variables, at: branch, first, after }, { requestPolicy: 'network-only' })
          .toPromise();
        const page = data?.program?.history;
        if (!page) throw error;
        return page;
      },
      (next) =>
        // What was there stays while another list is on its way.
        setLoaded((before) => (next.fetching && before && before.key !== key ? before : { ...next, key })),
    );
  });
  useEffect(() => {
    const opened = open();
    loader.current = opened;
    return () => opened.leave();
  }, [client, key]);

  const look = useEffectEvent(() => {
    const { branches: known, newest: seen } = asked.current;
    const touched = new Set(arrived.filter(({ number }) => number > seen).map(({ branch }) => branch));
    loader.current?.renew(branches.filter((branch) => !known.has(branch) || touched.has(branch)));
    asked.current = { branches: new Set([...known, ...branches]), newest: Math.max(seen, newest) };
  });
  useEffect(() => look(), [client, key, shown, newest]);

  const lines = useMemo(
    () => loaded && new Map([...loaded.lines].filter(([branch]) => branches.includes(branch))),
    // The branches are compared by what they say.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [loaded, shown],
  );
  const all = known && loaded?.key === key && branches.every((branch) => loaded.answered.has(branch));
  // A branch that is made later does not take the others away.
  if (all && !begun) setBegun(true);
  const shows = all || begun;
  const items = useMemo(() => (shows && lines && lines.size > 0 ? merged(lines) : undefined), [shows, lines]);
  const refresh = () => loader.current?.renew(branches);
  useBack(loaded?.problem, refresh);
  const next = lines ? shortest(lines) : [];
  return {
    items,
    problem: loaded?.problem,
    more: next.length > 0 && !loaded?.fetching ? () => loader.current?.lengthen(next) : undefined,
    refresh,
  };
}
