import { Circle, CircleDot, Play } from 'lucide-react';

import type { Cell } from './geometry';
import type { Mark } from './marks';

/** What a run says at a box: that it stands here, what was computed, and where it stops. */
export function BoxMark(props: {
  id: string;
  mark: Mark | undefined;
  /** The ports that its values stand at. */
  outputs: readonly Cell[];
  onStop: ((ref: string) => void) | undefined;
}) {
  const { id, mark, outputs, onStop } = props;
  const values = mark?.values.filter(Boolean).join(', ');
  const apart = outputs.length > 1 && mark ? outputs.filter(({ index }) => mark.values[index]) : [];
  const stop = mark?.stop ?? null;
  return (
    <>
      {mark?.here && <Play size={13} fill="currentColor" className="box-here" aria-hidden />}
      {apart.map(({ index, x, width }) => (
        <span
          key={index}
          className="box-value apart"
          style={{ left: x + 1, maxWidth: width - 2 }}
          title={mark?.values[index]}
        >
          {mark?.values[index]}
        </span>
      ))}
      {values && apart.length === 0 && (
        <span className="box-value" title={values}>
          {values}
        </span>
      )}
      {onStop && (
        <button
          type="button"
          className="box-stop nodrag nopan"
          // The key that sets one at what is selected reaches every place.
          tabIndex={-1}
          aria-pressed={stop !== null}
          aria-label={`Breakpoint at ${id}`}
          title={stop === null ? 'Stop here' : 'Do not stop here'}
          onClick={(event) => {
            event.stopPropagation();
            onStop(id);
          }}
        >
          {stop === 'condition' ? (
            <CircleDot size={13} aria-hidden />
          ) : (
            <Circle size={13} fill={stop === null ? 'none' : 'currentColor'} aria-hidden />
          )}
        </button>
      )}
    </>
  );
}
