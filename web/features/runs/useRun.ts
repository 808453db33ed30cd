import type { TypedDocumentNode } from '@urql/core';
import { useCallback, useEffect, useEffectEvent, useReducer, useRef, useState } from 'react';
import { useClient } from 'urql';

import {
  FlowRunSpansDocument,
  FlowRunStepsDocument,
  RunCursorDocument,
  RunEventsDocument,
  RunPageDocument,
  type RunPageQuery,
} from '../../generated/graphql';
import { useSocket } from '../../lib/connection';
import { follow, type LiveStatus } from '../../lib/follow';
import { problemOf, UNAUTHENTICATED, type Problem } from '../../lib/problems';
import { useBack } from '../../lib/useBack';
import { afterEvent, eventOf, isNews, type Event, type Working } from './live';
import { changingAfter, NOTHING, withPart, type Part, type Tail } from './tail';
import type { Span } from './spans';
import { stepKey, type Step } from './timeline';

/** All of a run that is no list. */
export type Head = NonNullable<RunPageQuery['run']>;

const FRESH = { requestPolicy: 'network-only' } as const;
/** Events within so many milliseconds are one reason to ask again, and one picture. */
const GATHERED = 200;

/** A list of a run, and how the last question for a part of it went. */
interface Loading<Item> {
  tail: Tail<Item>;
  problem: Problem | undefined;
  busy: boolean;
}

type Answer<Item> =
  | { type: 'asked' }
  | { type: 'failed'; problem: Problem }
  | { type: 'part'; after: string | null; part: Part<Item>; keyOf: (item: Item) => string };

function afterAnswer<Item>(loading: Loading<Item>, answer: Answer<Item>): Loading<Item> {
  switch (answer.type) {
    case 'asked':
      return { ...loading, busy: true };
    case 'failed':
      return { ...loading, busy: false, problem: answer.problem };
    case 'part':
      return {
        tail: withPart(loading.tail, answer.after, answer.part, answer.keyOf),
        busy: false,
        problem: undefined,
      };
  }
}

/** A list of a run that grows: it is loaded part by part, and its end again when something has happened. */
function useTail<Data, Item>(
  id: string,
  document: TypedDocumentNode<Data, { id: string; after?: string | null }>,
  partOf: (data: Data) => Part<Item> | null | undefined,
  keyOf: (item: Item) => string,
  /** Whether an item stays as it is. */
  settled: (item: Item) => boolean,
) {
  const client = useClient();
  const [{ tail, problem, busy }, dispatch] = useReducer(afterAnswer<Item>, {
    tail: NOTHING,
    problem: undefined,
    busy: false,
  });
  const turn = useRef(0);

  const load = (after: string | null) => {
    const mine = ++turn.current;
    dispatch({ type: 'asked' });
    const answer = client.query(document, { id, after }, FRESH).toPromise();
    void answer.then(({ data, error }) => {
      if (mine !== turn.current) return;
      const part = data && partOf(data);
      if (part) dispatch({ type: 'part', after, part, keyOf });
      else dispatch({ type: 'failed', problem: problemOf(error) });
    });
  };
  useBack(problem, () => load(null));
  const restart = useEffectEvent(() => load(null));
  useEffect(() => {
    restart();
    const turns = turn;
    return () => {
      turns.current += 1;
    };
  }, [client, id, document]);

  return {
    tail,
    problem,
    busy,
    reload: () => load(null),
    more: tail.next !== null && !busy ? () => load(tail.next) : undefined,
    /** Loads what may have changed, where the end of the list is shown. */
    catchUp: () => {
      if (tail.next === null) load(changingAfter(tail, settled));
    },
  };
}

function afterEvents(now: readonly Working[], events: readonly Event[]): readonly Working[] {
  return events.reduce(afterEvent, now);
}

/**
 * A run, live: what is told of it, its steps and spans as far as they are loaded, and what it is doing.
 *
 * Of one run as long as it is used: another one begins anew.
 */
export function useRun(id: string) {
  const client = useClient();
  const socket = useSocket();
  const [head, setHead] = useState<Head | null>(null);
  const [problem, setProblem] = useState<Problem>();
  const [live, setLive] = useState<LiveStatus>('connecting');
  const [stopped, setStopped] = useState<Problem>();
  const [attempt, setAttempt] = useState(0);
  const [working, happened] = useReducer(afterEvents, []);
  const steps = useTail(
    id,
    FlowRunStepsDocument,
    (data) => data.run?.steps,
    stepKey,
    ({ endedAt }: Step) => endedAt !== null,
  );
  const spans = useTail(
    id,
    FlowRunSpansDocument,
    (data) => data.run?.trace,
    (span) => span.id,
    // The span of the run itself is open as long as the run, and the first.
    ({ endedAt, kind }: Span) => endedAt !== null || kind === 'run',
  );
  const loaded = steps.tail.edges?.length ?? 0;

  const readHead = useCallback(
    () =>
      client
        .query(RunPageDocument, { id }, FRESH)
        .toPromise()
        .then(({ data, error }) => {
          const run = data?.run ?? null;
          setProblem(run ? undefined : problemOf(error));
          if (run) setHead(run);
          return run;
        }),
    [client, id],
  );

  const reload = useCallback(() => {
    setStopped(undefined);
    setAttempt((before) => before + 1);
  }, []);
  // Once it is there it is followed across lost connections.
  useBack(head ? undefined : problem, reload);
  const readAll = useEffectEvent(() => {
    steps.reload();
    spans.reload();
  });
  const catchUp = useEffectEvent((now: Head | null) => {
    // Steps that are gone were taken back: what is behind them is not the same any more.
    if (now?.steps && now.steps.totalCount < loaded) return readAll();
    steps.catchUp();
    spans.catchUp();
  });

  const complete = useEffectEvent((now: Head) => {
    // The steps were asked for at the same time as all else, and may be older.
    if (now.steps && now.steps.totalCount !== loaded) catchUp(now);
  });

  useEffect(() => {
    let left = false;
    let end = () => {};
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gathered: Event[] = [];
    const news = () => void readHead().then((now) => !left && catchUp(now));
    if (attempt > 0) readAll();
    const start = async () => {
      // What happens after this is an event, what happened before is in the answers below.
      const { data } = await client.query(RunCursorDocument, { id }, FRESH).toPromise();
      const run = await readHead();
      if (left || !run) return;
      complete(run);
      let lost = false;
      end = follow(socket, {
        document: RunEventsDocument,
        variables: (after) => ({ run: id, after, kinds: null }),
        cursorOf: ({ runEvents }) => runEvents.cursor,
        after: data?.run?.cursor ?? null,
        onEvent: ({ runEvents }) => {
          gathered.push(eventOf(runEvents));
          timer ??= setTimeout(() => {
            timer = undefined;
            const events = gathered;
            gathered = [];
            happened(events);
            if (events.some(({ kind }) => isNews(kind))) news();
          }, GATHERED);
        },
        onStatus: (status) => {
          setLive(status);
          if (status === 'connected' && lost) news();
          if (status !== 'connecting') lost = status === 'reconnecting';
        },
        onProblem: (problem) => {
          setStopped(problem);
          // Over HTTP the server says it again, to who asks for a token then.
          if (problem.code === UNAUTHENTICATED) void readHead();
        },
      });
    };
    void start();
    return () => {
      left = true;
      clearTimeout(timer);
      end();
    };
  }, [client, socket, id, attempt, readHead]);

  return { head: head?.id === id ? head : null, problem, live, stopped, working, steps, spans, reload };
}
