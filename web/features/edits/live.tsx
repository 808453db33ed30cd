import { createContext, use, useCallback, useEffect, useReducer, useState, type ReactNode } from 'react';
import { useClient, type Client } from 'urql';

import {
  FeedBranchDocument,
  FeedBranchesDocument,
  FeedEventsDocument,
  FeedHeadDocument,
  FeedOlderDocument,
  FeedStartDocument,
} from '../../generated/graphql';
import { useSocket } from '../../lib/connection';
import { follow } from '../../lib/follow';
import { NOT_FOUND, problemOf, UNAUTHENTICATED, type Problem } from '../../lib/problems';
import { programKey } from '../../lib/program';
import { useBack } from '../../lib/useBack';
import { after, EMPTY, type Feed, type Item } from './model';

/** A program that is open: what it is called, and what happens to it. */
export interface Live {
  /** Its id, whatever the address says. */
  programId: string;
  name: string;
  doc: string | null;
  feed: Feed;
  /** Keeps the picture still, or goes on. */
  pause(): void;
  resume(): void;
  /** Takes the note of a lost connection away. */
  notice(): void;
  /** Loads revisions before those that are shown; absent when there are none, or while some are on their way. */
  loadOlder: (() => void) | undefined;
  /** Why nothing more arrives by itself. */
  stopped: Problem | undefined;
  /** Whether the program was deleted while it was open. */
  gone: boolean;
  /** Begins anew. */
  restart(): void;
}

const FRESH = { requestPolicy: 'network-only' } as const;

/** Of more branches than these, those that moved last have their revisions in the feed from the start. */
const BRANCHES = 8;

/** The newest revisions of the branches beside `main`. What cannot be read is left out: the feed goes on without. */
async function besideMain(client: Client, id: string): Promise<Item[]> {
  const { data } = await client.query(FeedBranchesDocument, { id }, FRESH).toPromise();
  const branches = data?.program?.branches?.nodes.filter(({ name }) => name !== 'main') ?? [];
  const newest = branches.sort((a, b) => b.head.number - a.head.number).slice(0, BRANCHES);
  const pages = newest.map(({ name }) => client.query(FeedBranchDocument, { id, at: name }, FRESH).toPromise());
  const items = (await Promise.all(pages)).flatMap(({ data }) => data?.program?.history?.nodes ?? []);
  return items.filter(({ branch }) => branch !== 'main');
}

const Context = createContext<Live | null>(null);

/** The program that is open, live. */
export function useLive(): Live {
  const live = use(Context);
  if (!live) throw new Error('views of a program stand in a frame that follows it');
  return live;
}

/** How opening a program went. */
export type Opening = { state: 'loading' } | { state: 'failed'; problem: Problem; retry: () => void };

interface Opened {
  programId: string;
  name: string;
  doc: string | null;
  cursor: string | null;
}

/** Opens a program and follows it; `otherwise` stands in until it is open. */
export function LiveProvider(props: {
  program: string;
  otherwise: (opening: Opening) => ReactNode;
  children: ReactNode;
}) {
  const { program, otherwise, children } = props;
  const client = useClient();
  const socket = useSocket();
  const [feed, dispatch] = useReducer(after, EMPTY);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [problem, setProblem] = useState<Problem>();
  const [stopped, setStopped] = useState<Problem>();
  const [older, setOlder] = useState<{ after: string | null; busy: boolean } | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [removed, setRemoved] = useState(false);
  const restart = useCallback(() => setAttempt((before) => before + 1), []);
  useBack(problem, restart);

  useEffect(() => {
    let left = false;
    setProblem(undefined);
    setStopped(undefined);
    const start = client.query(FeedStartDocument, programKey(program), FRESH);
    void start.toPromise().then(({ data, error }) => {
      if (left) return;
      const found = data?.program;
      if (!found) return setProblem(problemOf(error));
      const { programId, name, doc, eventCursor, revision, history } = found;
      dispatch({ type: 'started', items: history?.nodes ?? [], head: revision?.number ?? null });
      setOlder(history?.pageInfo.hasNextPage ? { after: history.pageInfo.endCursor, busy: false } : null);
      setOpened({ programId, name, doc, cursor: eventCursor });
      void besideMain(client, programId).then((items) => {
        if (!left) dispatch({ type: 'beside', items });
      });
    });
    return () => {
      left = true;
    };
  }, [client, program, attempt]);

  useEffect(() => {
    if (!opened) return;
    const { programId, cursor } = opened;
    let lost = false;
    return follow(socket, {
      document: FeedEventsDocument,
      variables: (after) => ({ program: programId, after }),
      cursorOf: ({ programEvents }) => programEvents.cursor,
      after: cursor,
      onEvent: ({ programEvents: event }) => {
        switch (event.__typename) {
          case 'RevisionCommitted':
            return dispatch({ type: 'arrived', item: event.revision, touched: event.touched });
          case 'EventGap':
            return dispatch({ type: 'gap' });
          case 'ProgramChanged':
            if (event.change === 'REMOVED') return setRemoved(true);
            return setOpened((before) => before && { ...before, name: event.name });
          case 'BranchChanged':
          case 'CheckpointChanged':
            return dispatch({ type: 'named' });
        }
      },
      onStatus: (status) => {
        dispatch({ type: 'status', status });
        if (status === 'reconnecting') lost = true;
        if (status !== 'connected' || !lost) return;
        lost = false;
        const head = client.query(FeedHeadDocument, { id: programId }, FRESH);
        void head.toPromise().then(({ data, error }) => {
          if (error && problemOf(error).code === NOT_FOUND) setRemoved(true);
          const number = data?.program?.revision?.number;
          if (number !== undefined) dispatch({ type: 'until', head: number });
        });
      },
      onProblem: (problem) => {
        setStopped(problem);
        // Over HTTP the server says it again, to who asks for a token then.
        if (problem.code === UNAUTHENTICATED) void client.query(FeedHeadDocument, { id: programId }, FRESH).toPromise();
      },
    });
    // A new name is no reason to begin anew.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [client, socket, opened?.programId, opened?.cursor]);

  if (!opened) return otherwise(problem ? { state: 'failed', problem, retry: restart } : { state: 'loading' });

  const loadOlder = () => {
    setOlder((before) => before && { ...before, busy: true });
    const page = client.query(FeedOlderDocument, { id: opened.programId, after: older?.after ?? null });
    void page.toPromise().then(({ data }) => {
      const history = data?.program?.history;
      if (history) dispatch({ type: 'older', items: history.nodes });
      setOlder(history?.pageInfo.hasNextPage ? { after: history.pageInfo.endCursor, busy: false } : null);
    });
  };

  const live: Live = {
    programId: opened.programId,
    name: opened.name,
    doc: opened.doc,
    feed,
    pause: () => dispatch({ type: 'paused' }),
    resume: () => dispatch({ type: 'resumed' }),
    notice: () => dispatch({ type: 'noticed' }),
    loadOlder: older && !older.busy ? loadOlder : undefined,
    stopped,
    gone: removed || [problem, stopped].some((each) => each?.code === NOT_FOUND),
    restart,
  };
  return <Context value={live}>{children}</Context>;
}
