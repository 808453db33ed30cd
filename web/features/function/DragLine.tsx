import type { Drag } from './useDrag';

/** The line of a connection that is being drawn, with what would come of it. */
export function DragLine({ drag: { start, from, to, over, left } }: { drag: Drag }) {
  const middle = (from.y + to.y) / 2;
  const state = over === null ? '' : over.why === null ? 'fits' : 'refused';
  return (
    <div className={`drag ${state}`}>
      <svg aria-hidden>
        <path d={`M${from.x} ${from.y}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`} />
      </svg>
      <output className={left ? 'drag-says left' : 'drag-says'} style={{ left: to.x, top: to.y }}>
        {over === null ? (
          <>
            <b>{start.label}</b>: {start.type}
          </>
        ) : over.why === null ? (
          <>
            <b>{start.label}</b> to <b>{over.end.label}</b>
          </>
        ) : (
          <>
            refused: {over.end.label} {over.why}
          </>
        )}
      </output>
    </div>
  );
}
