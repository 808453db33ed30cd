import { useCallback, useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';

import { RunControlDocument, RunMovesDocument, RunOpenDocument } from '../../generated/graphql';
import { useSocket } from '../../lib/connection';
import { follow, type LiveStatus } from '../../lib/follow';
import { OFFLINE, problemOf, type Problem } from '../../lib/problems';
import { extentAfter, isOver, queued, type Extent, type Order, type State } from './model';
import { refusalOf, type Refusal } from './refusal';

/** How long one waits before looking for what others have changed without moving, in milliseconds. */
const SETTLES = 400;

/** After how long an action counts as a run that can be paused, in milliseconds. */
const SLOW = 300;

/** A simulation that is held, and the way to move it. */
export interface Simulated {
  state: State | undefined;
  /** Why it cannot be shown. */
  problem: Problem | undefined;
  /** Why the last action was not carried out. */
  refusal: Refusal | undefined;
  forgive(): void;
  /** Whether an action is on its way. */
  busy: boolean;
  /** How far it has come while it runs. */
  reached: number | null;
  extent: Extent;
  /** How the way to news of it stands. */
  live: LiveStatus;
  /** Does something; answers when that is done, with null where it was refused. */
  act(order: Order): Promise<State | null>;
  retry(): void;
}

const NOTHING: Extent = { steps: 0, final: false };

/** Opens a simulation and follows it, whoever moves it. `start` is the step to begin at. */
export function useSimulation(id: string, start: number | null): Simulated {
  const client = useClient();
  const socket = useSocket();
  const [state, setState] = useState<State>();
  const [problem, setProblem] = useState<Problem>();
  const [refusal, setRefusal] = useState<Refusal>();
  const [busy, setBusy] = useState(false);
  const [reached, setReached] = useState<number | null>(null);
  const [extent, setExtent] = useState(NOTHING);
  const [live, setLive] = useState<LiveStatus>('connecting');
  const [attempt, setAttempt] = useState(0);
  const [first] = useState(start);
  /** Grows with every action, so that an older answer is known for one. */
  const turn = useRef(0);
  const waiting = useRef<Order[]>([]);
  const working = useRef<Promise<State | null> | null>(null);
  const known = useRef<State>(undefined);

  const take = useCallback((next: State) => {
    known.current = next;
    setState(next);
    setReached(null);
    setExtent((before) => extentAfter(before, next));
  }, []);

  const send = useCallback(
    async (order: Order): Promise<State | null> => {
      turn.current += 1;
      const slow = setTimeout(() => setReached(known.current?.position ?? 0), SLOW);
      const { data, error } = await client.mutation(RunControlDocument, { input: { id, ...order } }).toPromise();
      clearTimeout(slow);
      turn.current += 1;
      const next = data?.controlSimulation?.simulation;
      if (!next) {
        setRefusal(refusalOf(error));
        setReached(null);
        return null;
      }
      setRefusal(undefined);
      take(next);
      return next;
    },
    [client, id, take],
  );

  const act = useCallback(
    (order: Order): Promise<State | null> => {
      if (order.action === 'PAUSE' || order.action === 'CANCEL') {
        waiting.current = [];
        return send(order);
      }
      waiting.current = queued(waiting.current, order);
      working.current ??= (async () => {
        setBusy(true);
        let result: State | null = null;
        for (let next = waiting.current.shift(); next; next = waiting.current.shift()) {
          result = await send(next);
          if (!result) waiting.current = [];
        }
        working.current = null;
        setBusy(false);
        return result;
      })();
      return working.current;
    },
    [send],
  );

  useEffect(() => {
    let left = false;
    let leave = () => {};
    let timer: ReturnType<typeof setTimeout> | undefined;
    let running: ReturnType<typeof setTimeout> | undefined;
    let lost = false;

    const read = async (): Promise<State | null> => {
      const mine = ++turn.current;
      const { data, error } = await client
        .query(RunOpenDocument, { id }, { requestPolicy: 'network-only' })
        .toPromise();
      if (left || mine !== turn.current) return null;
      const found = data?.simulation;
      // That the server was not reached is over once it answers.
      if (found || problemOf(error).code !== OFFLINE)
        setRefusal((before) => (before?.code === OFFLINE ? undefined : before));
      if (found) take(found);
      else if (known.current === undefined) setProblem(problemOf(error));
      return found ?? null;
    };

    const begin = async () => {
      const found = await read();
      if (!found || left) return;
      if (first !== null && first !== found.position && found.status !== 'RUNNING' && !isOver(found.status))
        void act({ action: 'SEEK', seekTo: first });
      if (isOver(found.status)) return setLive('stopped');
      leave = follow(socket, {
        document: RunMovesDocument,
        variables: (after) => ({ id, after: after === null ? found.position : Number(after) }),
        cursorOf: ({ simulation }) => String(simulation.cursor),
        after: null,
        onEvent: ({ simulation: { cursor, status } }) => {
          clearTimeout(timer);
          if (status === 'RUNNING') {
            // One that is stepped runs for a moment, too, which is no news.
            running ??= setTimeout(() => setReached(cursor), SLOW);
            return;
          }
          clearTimeout(running);
          running = undefined;
          setReached(null);
          if (isOver(status)) {
            leave();
            setLive('stopped');
          }
          if (working.current) return;
          const same = known.current?.position === cursor && known.current.status === status;
          timer = setTimeout(() => void read(), same ? SETTLES : 0);
        },
        onStatus: (status) => {
          setLive(status);
          if (status === 'reconnecting') lost = true;
          if (status !== 'connected' || !lost) return;
          lost = false;
          void read();
        },
        onProblem: ({ code }) => {
          if (code === 'NOT_FOUND' && known.current) take({ ...known.current, status: 'EXPIRED' });
        },
      });
    };
    void begin();
    return () => {
      left = true;
      clearTimeout(timer);
      clearTimeout(running);
      leave();
    };
  }, [client, socket, id, first, attempt, act, take]);

  return {
    state: reached !== null && state && !isOver(state.status) ? { ...state, status: 'RUNNING' } : state,
    problem,
    refusal,
    forgive: useCallback(() => setRefusal(undefined), []),
    busy,
    reached,
    extent,
    live,
    act,
    retry: useCallback(() => {
      setProblem(undefined);
      setAttempt((before) => before + 1);
    }, []),
  };
}
