import { Radio, RefreshCw, Unplug } from 'lucide-react';

import type { LiveStatus } from './follow';

/** How the connection stands that a view is live by. */
export function LiveMark({ live }: { live: LiveStatus }) {
  const [Icon, word, tone] =
    live === 'connected'
      ? ([Radio, 'live', 'ok'] as const)
      : live === 'stopped'
        ? ([Unplug, 'not live', 'error'] as const)
        : ([RefreshCw, live, 'warn'] as const);
  return (
    <output className={`badge ${tone}`} data-live={live}>
      <Icon size={12} aria-hidden />
      {word}
    </output>
  );
}
