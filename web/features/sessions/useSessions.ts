import { useEffect, useEffectEvent, useState } from 'react';
import { useClient } from 'urql';

import { SessionsDocument, SessionsEventsDocument } from '../../generated/graphql';
import { useSocket } from '../../lib/connection';
import { follow, type LiveStatus } from '../../lib/follow';
import { usePages, type Pages } from '../../lib/pages';
import { merged, type Session } from './model';

/** Events within so many milliseconds are one reason to ask again. */
const GATHERED = 400;

interface Newest {
  sessions: readonly Session[];
  total: number;
}

/** The sessions, live: the newest page is read again whenever something happens in one. */
export function useSessions(): Omit<Pages<Session>, 'next'> & {
  more: (() => void) | undefined;
  refresh(): void;
  /** How the connection stands. */
  live: LiveStatus;
} {
  const client = useClient();
  const socket = useSocket();
  const { items, total, fetching, problem, more, refresh } = usePages({
    document: SessionsDocument,
    variables: {},
    pageOf: ({ sessions }) => sessions,
    keyOf: ({ id }: Session) => id,
  });
  const [newest, setNewest] = useState<Newest | null>(null);
  const [live, setLive] = useState<LiveStatus>('connecting');

  const reread = useEffectEvent(() => {
    const answer = client.query(SessionsDocument, { after: null }, { requestPolicy: 'network-only' }).toPromise();
    void answer.then(({ data }) => {
      if (data?.sessions) setNewest({ sessions: data.sessions.nodes, total: data.sessions.totalCount });
    });
  });

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = follow(socket, {
      document: SessionsEventsDocument,
      variables: (after) => ({ after }),
      cursorOf: ({ runEvents }) => runEvents.cursor,
      after: null,
      onEvent: () => {
        timer ??= setTimeout(() => {
          timer = undefined;
          reread();
        }, GATHERED);
      },
      onStatus: (status) => {
        setLive(status);
        // What happened between the list and the first event is in neither.
        if (status === 'connected') reread();
      },
      // Whoever may not follow everything still has the list.
      onProblem: () => {},
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [socket]);

  return {
    items: items && merged(items, newest?.sessions ?? []),
    total: Math.max(total, newest?.total ?? 0),
    fetching,
    problem,
    more,
    refresh: () => {
      setNewest(null);
      refresh();
    },
    live,
  };
}
