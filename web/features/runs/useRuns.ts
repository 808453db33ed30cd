import { useEffect, useEffectEvent, useState } from 'react';
import { useClient } from 'urql';

import { RunEventsDocument, RunNowDocument, RunsDocument, type RunEventKind } from '../../generated/graphql';
import { useSocket } from '../../lib/connection';
import { follow, type LiveStatus } from '../../lib/follow';
import { usePages, type Pages } from '../../lib/pages';
import { LISTED_KINDS, merged, toReread, type Filter, type Run } from './model';

/** Events within so many milliseconds are one reason to ask again. */
const GATHERED = 250;

const NONE: ReadonlyMap<string, Run | null> = new Map();

/** The runs that a filter lets through, live. */
export function useRuns(filter: Filter): Omit<Pages<Run>, 'next'> & {
  more: (() => void) | undefined;
  refresh(): void;
  /** How the connection stands. */
  live: LiveStatus;
} {
  const client = useClient();
  const socket = useSocket();
  const pages = usePages({
    document: RunsDocument,
    variables: { ...filter },
    pageOf: ({ runs }) => runs,
    keyOf: ({ id }: Run) => id,
  });
  const [fresh, setFresh] = useState(NONE);
  const [live, setLive] = useState<LiveStatus>('connecting');
  const items = pages.items && merged(pages.items, fresh, filter);

  const refresh = () => {
    setFresh(NONE);
    pages.refresh();
  };
  const onEvents = useEffectEvent((events: readonly { runId: string; kind: RunEventKind }[]) => {
    const runs = toReread(events);
    if (runs === 'all') return refresh();
    for (const id of runs) {
      const answer = client.query(RunNowDocument, { id }, { requestPolicy: 'network-only' });
      void answer.toPromise().then(({ data, error }) => {
        if (!error || data?.run) setFresh((before) => new Map(before).set(id, data?.run ?? null));
      });
    }
  });
  const onBack = useEffectEvent(refresh);

  useEffect(() => {
    let gathered: { runId: string; kind: RunEventKind }[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = follow(socket, {
      document: RunEventsDocument,
      variables: (after) => ({ run: null, after, kinds: [...LISTED_KINDS] }),
      cursorOf: ({ runEvents }) => runEvents.cursor,
      after: null,
      onEvent: ({ runEvents }) => {
        gathered.push(runEvents);
        timer ??= setTimeout(() => {
          timer = undefined;
          onEvents(gathered);
          gathered = [];
        }, GATHERED);
      },
      onStatus: (status) => {
        setLive(status);
        // What happened between the list and the first event is in neither, nor what was missed without a cursor to go on after.
        if (status === 'connected') onBack();
      },
      // Whoever may not follow everything still has the list.
      onProblem: () => {},
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [socket]);

  const { fetching, problem, more } = pages;
  // Runs that came or went since are not in the total that was loaded; where all are loaded they are counted.
  const loaded = pages.items?.length ?? 0;
  const total = items && pages.next === null ? items.length : pages.total + (items?.length ?? loaded) - loaded;
  return { items, total, fetching, problem, more, refresh, live };
}
