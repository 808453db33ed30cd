import type { RunEventKind } from '../../generated/graphql';
import type { LiveStatus } from '../../lib/follow';

/** What is known of the questions that wait. */
export interface Questions {
  /** How many are open; null until that is known. */
  open: number | null;
  /** What was told last to who does not look. */
  told: string;
  /** What happened last to questions, with a number that tells one time from the next. */
  changed: {
    turn: number;
    /** Runs whose questions may be others now; null: any. */
    runs: readonly string[] | null;
  };
  /** How the connection stands that they are known by. */
  live: LiveStatus;
}

export const EMPTY: Questions = { open: null, told: '', changed: { turn: 0, runs: [] }, live: 'connecting' };

/** What can happen to questions. */
export type Change =
  | { type: 'counted'; open: number }
  | { type: 'happened'; events: readonly { runId: string; kind: RunEventKind }[] }
  /** Once the connection is back, nobody knows what was missed. */
  | { type: 'status'; live: LiveStatus };

/** The questions after something happened. */
export function after(questions: Questions, change: Change): Questions {
  const turn = questions.changed.turn + 1;
  switch (change.type) {
    case 'counted':
      if (questions.open === change.open) return questions;
      return {
        ...questions,
        open: change.open,
        told: announcement(questions.open, change.open) || questions.told,
      };
    case 'happened': {
      const gap = change.events.some(({ kind }) => kind === 'GAP');
      const runs = [...new Set(change.events.map(({ runId }) => runId))];
      return { ...questions, changed: { turn, runs: gap ? null : runs } };
    }
    case 'status': {
      const { live } = change;
      return { ...questions, live, ...(live === 'connected' && { changed: { turn, runs: null } }) };
    }
  }
}

/** What is told to who does not look, when the number of open questions is another one. */
export function announcement(before: number | null, now: number | null): string {
  if (before === null || now === null || now <= before) return '';
  const more = now - before;
  const fresh = more === 1 ? 'A new question waits' : `${more} new questions wait`;
  return `${fresh} for an answer. ${now === 1 ? 'One is' : `${now} are`} open.`;
}
