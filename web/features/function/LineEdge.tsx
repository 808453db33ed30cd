import type { Edge, EdgeProps } from '@xyflow/react';
import { memo } from 'react';

import type { Line } from './boxes';
import { middleOf, pathOf } from './geometry';

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
  const { sign } = line;
  const end = points.at(-1);
  const middle = sign && middleOf(points);
  const classes = [
    'line',
    `line-${line.kind}`,
    sign && `is-${sign}`,
    near && 'near',
    far && 'far',
    line.count > 1 && 'many',
  ];
  return (
    <g className={classes.filter(Boolean).join(' ')}>
      <path d={pathOf(points)} />
      {end && (
        <path className="line-tip" d={`M${end.x - 3.5},${end.y - 6}L${end.x + 3.5},${end.y - 6}L${end.x},${end.y}Z`} />
      )}
      {middle && (
        // A line that is new has a plus on it, one that is gone is struck out.
        <path
          className="line-sign"
          d={`M${middle.x - 4},${middle.y}h8m-4,-4v8`}
          {...(sign === 'removed' && { transform: `rotate(45 ${middle.x} ${middle.y})` })}
        />
      )}
    </g>
  );
});
