import { useMemo, useState } from 'react';

import type { ChangedFunctionsFragment } from '../../generated/graphql';
import { afterPage, type Pages, type PagesChange } from '../../lib/pages';
import { problemOf } from '../../lib/problems';
import { useBack } from '../../lib/useBack';
import { MOVED_ON, type Diff, type Difference, type FunctionChange } from './model';

/** So many functions of a difference are loaded at once; the first come with it. */
export const PAGE = 200;

/** The functions of a difference, as far as they are loaded. */
export interface Changes extends Pages<FunctionChange> {
  items: readonly FunctionChange[];
  /** Loads more of them; absent at their end, and while some are on their way. */
  more: (() => void) | undefined;
}

type Loaded = Omit<Changes, 'more'>;

const NONE: Loaded = { items: [], total: 0, fetching: false, problem: undefined, next: null };

/** What comes with a difference. */
function firstOf({ functions }: Diff): Loaded {
  return functions ? after(NONE, paged(functions, null)) : NONE;
}

function after(loaded: Loaded, change: PagesChange<FunctionChange>): Loaded {
  const { items = [], ...list } = afterPage(loaded, change);
  return { ...list, items };
}

/** That a page has come, which begins behind a cursor. */
function paged(page: ChangedFunctionsFragment, cursor: string | null): PagesChange<FunctionChange> {
  const behind = [cursor, ...page.edges.map(({ cursor }) => cursor)];
  const nodes = page.nodes.map((change, at) => ({ ...change, behind: behind[at] ?? null }));
  return { type: 'page', first: false, page: { ...page, nodes }, keyOf: ({ ref }) => ref };
}

/** The functions of a difference, of which more are loaded when that is asked for. */
export function useChanges({ diff, ask }: Difference): Changes {
  const first = useMemo(() => firstOf(diff), [diff]);
  const [more, setMore] = useState<{ of: Diff; loaded: Loaded } | null>(null);
  const loaded = more?.of === diff ? more.loaded : first;
  const load = async () => {
    setMore({ of: diff, loaded: after(loaded, { type: 'asked' }) });
    // Another difference is not told what comes of this one.
    const tell = (change: PagesChange<FunctionChange>) =>
      setMore((now) => (now?.of === diff ? { of: diff, loaded: after(now.loaded, change) } : now));
    try {
      const page = (await ask({ first: PAGE, after: loaded.next }))?.functions;
      if (page) tell(paged(page, loaded.next));
      else tell({ type: 'failed', problem: MOVED_ON });
    } catch (error) {
      tell({ type: 'failed', problem: problemOf(error) });
    }
  };
  useBack(loaded.problem, () => void load());
  return { ...loaded, more: loaded.next !== null && !loaded.fetching ? () => void load() : undefined };
}
