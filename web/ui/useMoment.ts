import { useSyncExternalStore } from 'react';

/** One clock for all times on the page that change as often. */
class Clock {
  private readonly listeners = new Set<() => void>();
  private moment = Date.now();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly every: number) {}

  readonly read = () => this.moment;

  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    if (this.timer === undefined) {
      // It stood while nobody looked.
      this.moment = Date.now();
      this.timer = setInterval(() => {
        this.moment = Date.now();
        for (const each of this.listeners) each();
      }, this.every);
    }
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  };
}

const CLOCKS = { seconds: new Clock(1_000), minutes: new Clock(30_000) };

/** What time it is, as exactly as something that shows seconds or minutes needs it. */
export function useMoment(exact: keyof typeof CLOCKS = 'minutes'): number {
  const { subscribe, read } = CLOCKS[exact];
  return useSyncExternalStore(subscribe, read);
}
