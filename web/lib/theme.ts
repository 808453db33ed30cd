import { useSyncExternalStore } from 'react';

export type Theme = 'light' | 'dark';

const CHOICE = 'lmlang:theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function current(): Theme {
  const choice = localStorage.getItem(CHOICE);
  if (choice === 'light' || choice === 'dark') return choice;
  return system.matches ? 'dark' : 'light';
}

function show(): void {
  document.documentElement.dataset['theme'] = current();
  for (const listener of listeners) listener();
}

system.addEventListener('change', show);
show();

function toggle(): void {
  const next = current() === 'dark' ? 'light' : 'dark';
  // Who chooses what the system has follows the system again.
  if (next === (system.matches ? 'dark' : 'light')) localStorage.removeItem(CHOICE);
  else localStorage.setItem(CHOICE, next);
  show();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Light or dark, and what switches between them. */
export function useTheme(): { theme: Theme; toggle: () => void } {
  return { theme: useSyncExternalStore(subscribe, current), toggle };
}
