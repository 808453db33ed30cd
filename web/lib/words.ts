// What runs are about, in the words that began them.

const fieldOf = (input: unknown, name: string): string | null => {
  const value = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' && value.trim() !== '' ? value : null;
};

/** The names that words have in the input of a flow. */
export const WORDS = ['task', 'text'];

/** What somebody said to begin a run; null where that were no words. */
export function wordsOf(input: unknown): string | null {
  return WORDS.map((name) => fieldOf(input, name)).find((words) => words !== null) ?? null;
}

/** A run as far as it says what it is about. */
export interface Begun {
  input: unknown;
  session: { title: string | null };
}

/**
 * What a run is about, in a line: its own reason or words, since all runs of a conversation have the title of that; else
 * the title.
 */
export function aboutOf({ input, session }: Begun): string | null {
  const words = fieldOf(input, 'message') ?? wordsOf(input);
  return words?.trim().split('\n', 1)[0] ?? session.title;
}
