import { useSyncExternalStore } from 'react';

export type Theme = 'light' | 'dark';

const CHOICE = 'lmlang:theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function chosen(): Theme | undefined {
  const choice = localStorage.getItem(CHOICE);
  return choice === 'light' || choice === 'dark' ? choice : undefined;
}

function preferred(): Theme {
  return system.matches ? 'dark' : 'light';
}

function current(): Theme {
  return chosen() ?? preferred();
}

/** Puts the reader's choice where the style sheet finds it, which follows the system of itself. */
function show(): void {
  const choice = chosen();
  if (choice) document.documentElement.dataset['theme'] = choice;
  else delete document.documentElement.dataset['theme'];
  for (const listener of listeners) listener();
}

system.addEventListener('change', show);
show();

function toggle(): void {
  const next = current() === 'dark' ? 'light' : 'dark';
  // Who chooses what the system has follows the system again.
  if (next === preferred()) localStorage.removeItem(CHOICE);
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
