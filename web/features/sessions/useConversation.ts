import { useCallback, useEffect, useEffectEvent, useReducer, useRef, useState } from 'react';
import { useClient } from 'urql';

import {
  SessionCursorDocument,
  SessionEventsDocument,
  SessionPageDocument,
  TurnStateDocument,
  type RunEventKind,
  type SessionPageQuery,
} from '../../generated/graphql';
import { chase, type Chase } from '../../lib/chase';
import { useSocket } from '../../lib/connection';
import { follow, type LiveStatus } from '../../lib/follow';
import { problemOf, UNAUTHENTICATED, type Problem } from '../../lib/problems';
import { useBack } from '../../lib/useBack';
import { afterEvent, eventOf, isNews, isOver, type Event, type Working } from '../runs';
import type { Turn } from './model';

/** All of a session that is no list. */
export type Head = NonNullable<SessionPageQuery['session']>;

const FRESH = { requestPolicy: 'network-only' } as const;
/** Events within so many milliseconds are one reason to ask again, and one picture. */
const GATHERED = 100;

/** All that is told of a session, and that what comes is whole. */
const KINDS: RunEventKind[] = [
  'LISTENING',
  'STARTED',
  'NODE_STARTED',
  'NODE_FINISHED',
  'STATE_UPDATED',
  'MODEL_DELTA',
  'TOOL_CALLED',
  'INTERRUPTED',
  'ANSWERED',
  'RETRIED',
  'ESCALATED',
  'FINISHED',
  'GAP',
];

interface Talk {
  head: Head | null;
  /** The newest first. */
  runs: readonly Turn[];
  total: number;
  /** Where older runs begin; null where all are loaded. */
  next: string | null;
  /** What runs that have ended came to. */
  states: ReadonlyMap<string, unknown>;
}

const NOTHING: Talk = { head: null, runs: [], total: 0, next: null, states: new Map() };

type Loaded = { head: Head; after: string | null; states: readonly (readonly [string, unknown])[] };

function afterLoad(talk: Talk, { head, after, states }: Loaded): Talk {
  const page = head.runs;
  const nodes = page?.nodes ?? [];
  const given = new Map(nodes.map((run) => [run.id, run]));
  const known = new Set(talk.runs.map(({ id }) => id));
  const kept = talk.runs.map((run) => given.get(run.id) ?? run);
  const added = nodes.filter(({ id }) => !known.has(id));
  const first = after === null;
  const whole = talk.runs.length === 0 || !first;
  return {
    head,
    runs: first ? [...added, ...kept] : [...kept, ...added],
    total: page?.totalCount ?? talk.total,
    // The end of the newest page is not where older ones go on once some of those are loaded.
    next: whole ? (page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : null) : talk.next,
    states: states.length === 0 ? talk.states : new Map([...talk.states, ...states]),
  };
}

function afterEvents(now: readonly Working[], events: readonly Event[]): readonly Working[] {
  return events.reduce(afterEvent, now);
}

/** What is to be loaded. */
type Wanted = { after: string | null };

/**
 * A conversation, live: what was said and asked, what it came to, and what is being done.
 *
 * Of one session as long as it is used: another one begins anew.
 */
export function useConversation(id: string) {
  const client = useClient();
  const socket = useSocket();
  const [talk, dispatch] = useReducer(afterLoad, NOTHING);
  const [problem, setProblem] = useState<Problem>();
  const [live, setLive] = useState<LiveStatus>('connecting');
  const [stopped, setStopped] = useState<Problem>();
  const [listening, setListening] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [working, happened] = useReducer(afterEvents, []);
  const loader = useRef<Chase<Wanted> | null>(null);

  /** Loads a page of runs, with what those that have ended came to. */
  const load = useEffectEvent(async ({ after }: Wanted, isLeft: () => boolean) => {
    const { data, error } = await client.query(SessionPageDocument, { id, after }, FRESH).toPromise();
    const head = data?.session;
    if (isLeft()) return;
    if (!head?.runs) return setProblem(problemOf(error));
    const over = head.runs.nodes.filter(({ id, status, parent }) => {
      const before = talk.runs.find((run) => run.id === id);
      return isOver(status) && parent === null && (!talk.states.has(id) || before?.status !== status);
    });
    const states = await Promise.all(
      over.map(async ({ id: run }) => {
        const answer = await client.query(TurnStateDocument, { run }, FRESH).toPromise();
        return [run, answer.data?.runState ?? null] as const;
      }),
    );
    if (isLeft()) return;
    setProblem(undefined);
    dispatch({ head, after, states });
  });

  const reread = useCallback(() => loader.current?.want({ after: null }), []);
  const reload = useCallback(() => {
    setStopped(undefined);
    setAttempt((before) => before + 1);
  }, []);

  useEffect(() => {
    let end = () => {};
    let left = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gathered: Event[] = [];
    const loads = chase<Wanted>(load);
    loader.current = loads;
    const start = async () => {
      // What happens after this is an event, what happened before is in the answers below.
      const { data } = await client.query(SessionCursorDocument, { id }, FRESH).toPromise();
      const after = data?.session?.runs?.nodes[0]?.cursor ?? null;
      if (left) return;
      loads.want({ after: null });
      if (!data?.session) return;
      let missed = after === null;
      end = follow(socket, {
        document: SessionEventsDocument,
        variables: (after) => ({ session: id, after, kinds: KINDS }),
        cursorOf: ({ runEvents }) => runEvents.cursor,
        after,
        onEvent: ({ runEvents }) => {
          if (runEvents.kind === 'LISTENING') {
            setListening(true);
            if (missed) loads.want({ after: null });
            missed = false;
            return;
          }
          gathered.push(eventOf(runEvents));
          timer ??= setTimeout(() => {
            timer = undefined;
            const events = gathered;
            gathered = [];
            happened(events);
            if (events.some(({ kind }) => isNews(kind))) loads.want({ after: null });
          }, GATHERED);
        },
        onStatus: (status) => {
          setLive(status);
          if (status === 'reconnecting') missed = true;
        },
        onProblem: (problem) => {
          setStopped(problem);
          // Over HTTP the server says it again, to who asks for a token then.
          if (problem.code === UNAUTHENTICATED) loads.want({ after: null });
        },
      });
    };
    void start();
    return () => {
      left = true;
      loads.leave();
      clearTimeout(timer);
      end();
    };
  }, [client, socket, id, attempt]);

  useBack(problem, live === 'connecting' ? reload : reread);

  return {
    ...talk,
    problem,
    live,
    stopped,
    /** Whether what happens from now on is heard, words of models as well. */
    listening,
    working,
    reread,
    reload,
    earlier: talk.next === null ? undefined : () => loader.current?.want({ after: talk.next }),
  };
}
