import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient } from 'urql';

import { HistoryLineDocument } from '../../generated/graphql';
import { problemOf, type Problem } from '../../lib/problems';
import { lengthened, merged, renewed, shortest, type Item, type LinePage, type Lines } from './model';

/** What the timeline shows of all that there is. */
export interface Filter {
  author: string | null;
  /** Ref or path of an entity. */
  touching: string | null;
}

const PAGE = 60;
/** No more than these are asked for at once to see what has become of what is shown. */
const RENEWED = 240;

/** The timeline as far as it is loaded. */
export interface Timeline {
  /** The newest first; absent until something is there. */
  items: Item[] | undefined;
  fetching: boolean;
  problem: Problem | undefined;
  more: (() => void) | undefined;
  refresh(): void;
}

/** Loads the revisions of some branches, and again from the top whenever `turn` is another one. */
export function useTimeline(programId: string, branches: readonly string[], filter: Filter, turn: unknown): Timeline {
  const client = useClient();
  const [lines, setLines] = useState<Lines>();
  const [fetching, setFetching] = useState(true);
  const [problem, setProblem] = useState<Problem>();
  const key = JSON.stringify([programId, branches, filter]);
  const loaded = useRef<{ key: string; lines: Lines }>({ key: '', lines: new Map() });
  const latest = useRef(0);

  const ask = useCallback(
    async (branch: string, first: number, after: string | null): Promise<LinePage> => {
      const variables = { id: programId, at: branch, first, after, ...filter };
      const { data, error } = await client
        .query(HistoryLineDocument, variables, { requestPolicy: 'network-only' })
        .toPromise();
      const page = data?.program?.history;
      if (!page) throw error;
      return page;
    },
    // The filter is compared by what it says.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [client, key],
  );

  const load = useCallback(
    async (wanted: readonly string[], pageOf: (branch: string) => Promise<(lines: Lines) => Lines>) => {
      const mine = ++latest.current;
      setFetching(true);
      setProblem(undefined);
      try {
        const changes = await Promise.all(wanted.map(pageOf));
        if (mine !== latest.current) return;
        const before = loaded.current.key === key ? loaded.current.lines : new Map();
        loaded.current = { key, lines: changes.reduce((lines, change) => change(lines), before) };
        setLines(loaded.current.lines);
      } catch (error) {
        if (mine === latest.current) setProblem(problemOf(error));
      }
      if (mine === latest.current) setFetching(false);
    },
    [key],
  );

  const renew = useCallback(() => {
    void load(branches, async (branch) => {
      const known = loaded.current.key === key ? (loaded.current.lines.get(branch)?.items.length ?? 0) : 0;
      const page = await ask(branch, Math.min(RENEWED, Math.max(PAGE, known)), null);
      return (lines) => new Map(lines).set(branch, renewed(lines.get(branch), page));
    });
    // The branches are compared by what they say.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [load, ask, key]);

  useEffect(() => {
    renew();
    const turns = latest;
    return () => {
      turns.current += 1;
    };
  }, [renew, turn]);

  const lengthen = () => {
    const known = loaded.current.lines;
    void load(shortest(known), async (branch) => {
      const page = await ask(branch, PAGE, known.get(branch)?.next ?? null);
      return (lines) => new Map(lines).set(branch, lengthened(lines.get(branch), page));
    });
  };

  const items = useMemo(() => lines && merged(lines), [lines]);
  const open = lines !== undefined && [...lines.values()].some(({ next }) => next !== null);
  return { items, fetching, problem, more: open && !fetching ? lengthen : undefined, refresh: renew };
}
