import { useSyncExternalStore } from 'react';

import { ago } from './time';

const MINUTE = 60_000;

/** One clock for all times on the page. */
const listeners = new Set<() => void>();
let moment = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    moment = Date.now();
    for (const each of listeners) each();
  }, MINUTE / 2);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** How long ago something was; the exact time stands in the tooltip. */
export function Ago({ at }: { at: string }) {
  const now = useSyncExternalStore(subscribe, () => moment);
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toLocaleString()} className="muted numeric" style={{ whiteSpace: 'nowrap' }}>
      {ago(date.getTime(), now)}
    </time>
  );
}
