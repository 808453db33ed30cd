import { Clock } from 'lucide-react';

import { lasting, useMoment } from '../../ui';

/** How long a run has until it ends by itself. */
export function EndsBy({ at }: { at: string }) {
  const left = Date.parse(at) - useMoment();
  return (
    <span className={left < 3_600_000 ? 'run-ends soon' : 'run-ends'} title={new Date(at).toLocaleString()}>
      <Clock size={12} aria-hidden />
      {left > 0 ? `ends in ${lasting(left)} at the latest` : 'its time is up'}
    </span>
  );
}
