import { Link } from '@tanstack/react-router';

import type { Place } from './model';
import { plainLine, useNames } from './names';

/** The calls around the place, the innermost first. A call that is looked at shows its function. */
export function Stack(props: {
  program: string;
  rev: number | undefined;
  stack: readonly Place[];
  frame: number;
  onFrame(frame: number): void;
}) {
  const { program, rev, stack, frame, onFrame } = props;
  const names = useNames();
  if (stack.length === 0) return <p className="muted player-none">No call is open.</p>;
  // A deep recursion has thousands.
  const shown = stack.length > 60 ? [...stack.slice(0, 20), null, ...stack.slice(-40)] : stack;
  return (
    <ol className="stack" aria-label="Calls, the innermost first">
      {shown.toReversed().map((place) =>
        place === null ? (
          <li key="more" className="muted player-none">
            {(stack.length - 60).toLocaleString('en')} more calls
          </li>
        ) : (
          <li key={place.frame}>
            <button
              type="button"
              className="stack-frame"
              aria-current={place.frame === frame ? 'true' : undefined}
              onClick={() => onFrame(place.frame)}
            >
              <span className="muted numeric">{place.frame}</span>
              <span className="mono">{names.get(place.function)?.path ?? place.function}</span>
              <code className="muted">{plainLine(place.text)}</code>
            </button>
            <Link
              to="/p/$program/f/$function"
              params={{ program, function: place.function }}
              search={{ ...(rev !== undefined && { rev }), ...(place.node && { node: place.node }) }}
              className="stack-link"
              aria-label={`Open ${names.get(place.function)?.path ?? place.function}`}
            >
              open
            </Link>
          </li>
        ),
      )}
    </ol>
  );
}
