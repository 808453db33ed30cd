import { CircleCheck, CircleDashed, TriangleAlert } from 'lucide-react';

import { Badge, counted } from '../../ui';

/** What stands in the way of a program, or that nothing does. */
export function FlawBadges({ holes, warnings }: { holes: number; warnings: number }) {
  if (holes === 0 && warnings === 0)
    return (
      <Badge tone="ok">
        <CircleCheck size={12} aria-hidden />
        complete
      </Badge>
    );
  return (
    <>
      {holes > 0 && (
        <Badge tone="warn">
          <CircleDashed size={12} aria-hidden />
          {counted(holes, 'hole')}
        </Badge>
      )}
      {warnings > 0 && (
        <Badge tone="warn">
          <TriangleAlert size={12} aria-hidden />
          {counted(warnings, 'warning')}
        </Badge>
      )}
    </>
  );
}
