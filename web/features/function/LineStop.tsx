import { Circle, CircleDot } from 'lucide-react';

import type { Mark } from './marks';

/** The place beside a line where a breakpoint stands: at the first node that runs in it, unless it has one already. */
export function LineStop(props: {
  refs: readonly string[];
  marks: ReadonlyMap<string, Mark> | undefined;
  onStop(ref: string): void;
}) {
  const { refs, marks, onStop } = props;
  const set = refs.find((ref) => marks?.get(ref)?.stop);
  const stop = set === undefined ? null : marks?.get(set)?.stop;
  // Operands run before what stands at the front of the line.
  const ref = set ?? refs[0];
  if (ref === undefined) return <span className="text-gutter" />;
  return (
    // The key that sets one at what is selected reaches every line.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <span
      className="text-gutter"
      data-stop={set}
      title={set === undefined ? `Stop at ${ref}` : `Do not stop at ${set}`}
      onClick={() => onStop(ref)}
    >
      {stop === 'condition' ? (
        <CircleDot size={11} aria-hidden />
      ) : (
        <Circle size={11} fill="currentColor" className={stop ? '' : 'free'} aria-hidden />
      )}
    </span>
  );
}
