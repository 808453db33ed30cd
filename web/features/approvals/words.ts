// What the reader has written for questions and not sent, while the page lives.
import { useSyncExternalStore } from 'react';

import { isBlank, type Words } from './model';

let kept: ReadonlyMap<string, Words> = new Map();
const readers = new Set<() => void>();

/** Keeps what is written for a question; forgets it where that is nothing. */
export function keepWords(id: string, words: Words | null): void {
  const next = new Map(kept);
  if (words && !isBlank(words)) next.set(id, words);
  else next.delete(id);
  kept = next;
  for (const tell of readers) tell();
}

function follow(tell: () => void): () => void {
  readers.add(tell);
  return () => readers.delete(tell);
}

/** What is written for questions, by id. */
export function useWords(): ReadonlyMap<string, Words> {
  return useSyncExternalStore(follow, () => kept);
}
