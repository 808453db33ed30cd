import type { Edge, EdgeProps } from '@xyflow/react';
import { memo } from 'react';

import type { Line } from './boxes';
import { pathOf } from './geometry';

/** What a line of the graph is drawn from. */
export type LineData = {
  line: Line;
  points: { x: number; y: number }[];
  /** Whether it begins or ends at what the reader looks at, or the reader looks at something else. */
  near: boolean;
  far: boolean;
};

/** A value on its way, or the order of two effects. */
export const LineEdge = memo(function LineEdge({ data }: EdgeProps<Edge<LineData>>) {
  if (!data) return null;
  const { line, points, near, far } = data;
  const end = points.at(-1);
  const classes = ['line', `line-${line.kind}`, near && 'near', far && 'far', line.count > 1 && 'many'];
  return (
    <g className={classes.filter(Boolean).join(' ')}>
      <path d={pathOf(points)} />
      {end && (
        <path className="line-tip" d={`M${end.x - 3.5},${end.y - 6}L${end.x + 3.5},${end.y - 6}L${end.x},${end.y}Z`} />
      )}
    </g>
  );
});
