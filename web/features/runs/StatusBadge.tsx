import { CircleAlert, CircleCheck, CircleSlash, History, Hourglass, LoaderCircle, type LucideIcon } from 'lucide-react';

import type { RunStatus } from '../../generated/graphql';
import { Badge } from '../../ui';
import { STATUSES } from './model';

const ICONS: Record<RunStatus, LucideIcon> = {
  RUNNING: LoaderCircle,
  WAITING: Hourglass,
  COMPLETED: CircleCheck,
  FAILED: CircleAlert,
  CANCELLED: CircleSlash,
  SUPERSEDED: History,
};

/** How a run stands, by icon and word. */
export function StatusBadge({ status }: { status: RunStatus }) {
  const Icon = ICONS[status];
  const { word, tone, title } = STATUSES[status];
  return (
    <Badge tone={tone} title={title}>
      <Icon size={12} aria-hidden className={status === 'RUNNING' ? 'turning' : undefined} />
      {word}
    </Badge>
  );
}
