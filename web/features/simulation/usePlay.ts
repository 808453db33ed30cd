import { useCallback, useEffect, useRef, useState } from 'react';

import { isEnded, pace } from './model';
import type { Simulated } from './useSimulation';

/** A player that goes on by itself. */
export interface Playing {
  playing: boolean;
  play(): void;
  stop(): void;
}

function after(wait: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, wait));
}

/**
 * Plays a simulation at so many steps a second, up to the next breakpoint or the end.
 *
 * Steps pass breakpoints, whose conditions only the server can tell. Where there are any, it runs ahead once to see where
 * it would stop, and plays up to there.
 */
export function usePlay({ state, act }: Simulated, speed: number): Playing {
  const [playing, setPlaying] = useState(false);
  /** Which play goes on; a newer one, or none, ends it. */
  const turn = useRef(0);
  const now = useRef({ state, speed });
  useEffect(() => {
    now.current = { state, speed };
  }, [state, speed]);

  const stop = useCallback(() => {
    turn.current += 1;
    setPlaying(false);
  }, []);
  useEffect(
    () => () => {
      turn.current += 1;
    },
    [],
  );

  const play = useCallback(async () => {
    const mine = ++turn.current;
    const goes = () => mine === turn.current;
    setPlaying(true);
    let stopAt = Infinity;
    const begun = now.current.state;
    if (begun && begun.breakpoints.length > 0) {
      const ahead = await act({ action: 'RUN' });
      const rest = ahead?.status === 'RUNNING' ? await act({ action: 'PAUSE' }) : ahead;
      // Behind a long run nobody waits for its breakpoint.
      if (rest && ahead?.status !== 'RUNNING' && !isEnded(rest.status)) stopAt = rest.position;
      const back = rest && (await act({ action: 'SEEK', seekTo: begun.position }));
      if (!back) return goes() ? stop() : undefined;
    }
    let due = performance.now();
    while (goes()) {
      const { steps, wait } = pace(now.current.speed);
      // What the server takes is a part of the wait; what it takes beyond is not made up for.
      due = Math.max(due + wait, performance.now());
      await after(due - performance.now());
      if (!goes()) return;
      const { state } = now.current;
      if (!state || state.status === 'RUNNING' || isEnded(state.status)) return stop();
      const left = stopAt - state.position;
      // It is the run that knows at which breakpoint it stands.
      const next = await act(left <= steps ? { action: 'RUN' } : { action: 'STEP', steps });
      if (!next || left <= steps || isEnded(next.status)) return goes() ? stop() : undefined;
      now.current.state = next;
    }
  }, [act, stop]);

  return { playing, play: useCallback(() => void play(), [play]), stop };
}
