/** What a run says at a place of a function. */
export interface Mark {
  /** It stands here: before this node. */
  here: boolean;
  /** What is known there: one text for each output or parameter. */
  values: readonly string[];
  /** Whether it stops there, and whether on a condition only. */
  stop: 'always' | 'condition' | null;
}

/** What a mark says to somebody who does not see it. */
export function spokenMark({ here, values, stop }: Mark): string {
  return [
    here && 'the run stands here',
    values.length > 0 && `value ${values.join(', ')}`,
    stop !== null && (stop === 'always' ? 'breakpoint' : 'breakpoint with a condition'),
  ]
    .filter(Boolean)
    .join(', ');
}

/** Whether two marks say the same. */
export function sameMark(a: Mark | undefined, b: Mark | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.here === b.here && a.stop === b.stop && a.values.join() === b.values.join();
}
