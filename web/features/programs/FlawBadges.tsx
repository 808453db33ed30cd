import { CircleAlert, CircleCheck, CircleDashed, TriangleAlert } from 'lucide-react';

import { Badge, counted } from '../../ui';

/** What stands in the way of a program, or that nothing does. */
export function FlawBadges({ red, holes, warnings }: { red: number; holes: number; warnings: number }) {
  if (red === 0 && holes === 0 && warnings === 0)
    return (
      <Badge tone="ok">
        <CircleCheck size={12} aria-hidden />
        complete
      </Badge>
    );
  return (
    <>
      {red > 0 && (
        <Badge tone="error">
          <CircleAlert size={12} aria-hidden />
          {red} red
        </Badge>
      )}
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
