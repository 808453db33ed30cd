import type { State } from './model';

const SHAPES: Record<State, string> = {
  fine: 'M6 1a5 5 0 1 0 0 10a5 5 0 1 0 0-10z',
  findings: 'M6 1l5.2 9.6H.8z',
  incomplete: 'M6 .6L11.4 6L6 11.4L.6 6z',
  imported: 'M1.4 1.4h9.2v9.2H1.4z',
};

/** What each state is called. */
export const STATES: Record<State, string> = {
  fine: 'complete',
  findings: 'diagnostics',
  incomplete: 'incomplete: a hole or an error',
  imported: 'imported',
};

/** The shape and colour of a state, as the picture has them. */
export function StateMark({ state }: { state: State }) {
  return (
    <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden className={`map-mark ${state}`}>
      <path d={SHAPES[state]} />
    </svg>
  );
}
