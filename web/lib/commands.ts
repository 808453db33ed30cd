import type { LucideIcon } from 'lucide-react';
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';

/** Something that can be done from wherever the reader is, by its name. */
export interface Command {
  id: string;
  label: string;
  icon: LucideIcon;
  run(): void;
}

const registered = new Map<string, Command>();
const listeners = new Set<() => void>();
let snapshot: readonly Command[] = [];

function changed(): void {
  snapshot = [...registered.values()];
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Offers commands while a component is there; each has an id of its own. */
export function useOffer(commands: readonly Command[]): void {
  const run = useEffectEvent((id: string) => commands.find((command) => command.id === id)?.run());
  const said = JSON.stringify(commands.map(({ id, label }) => [id, label]));
  useEffect(() => {
    for (const { id, label, icon } of commands) registered.set(id, { id, label, icon, run: () => run(id) });
    changed();
    return () => {
      for (const { id } of commands) registered.delete(id);
      changed();
    };
    // Commands are compared by what they say; what they do is always the newest.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [said]);
}

/** What can be done now, in the order in which it was offered. */
export function useCommands(): readonly Command[] {
  return useSyncExternalStore(subscribe, () => snapshot);
}
