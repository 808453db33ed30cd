// What was said to begin a session, until its page says it there.

/** Words that are still to be said, and the key under which they are said once. */
export interface Opening {
  words: string;
  key: string;
  /** What the run is started with besides the words. */
  options?: Record<string, unknown>;
}

const openings = new Map<string, Opening>();

/** Leaves the first words of a session to its page. */
export function leaveOpening(session: string, opening: Opening): void {
  openings.set(session, opening);
}

/** The first words of a session, if they are still to be said. */
export function openingOf(session: string): Opening | null {
  return openings.get(session) ?? null;
}

/** They were said. */
export function forgetOpening(session: string): void {
  openings.delete(session);
}
