// The keys of the inbox. They work while the focus is in it, and not in a field.

/** What a key does. */
export type Command = 'next' | 'previous' | 'approve' | 'reject' | 'open' | 'keys' | { choose: number };

/** Every key with what it does, in the order of the list. */
export const KEYS: readonly { keys: string; what: string }[] = [
  { keys: 'j ↓', what: 'the next question' },
  { keys: 'k ↑', what: 'the one before' },
  { keys: 'a', what: 'approve, or answer; Enter confirms' },
  { keys: 'r', what: 'reject, with a word on what should be different; Enter confirms' },
  { keys: '1 – 9', what: 'the choice with this number; Enter confirms' },
  { keys: 'o', what: 'open the run that asks' },
  { keys: 'Esc', what: 'do not answer yet' },
  { keys: '?', what: 'this list' },
];

const COMMANDS: Record<string, Command> = {
  j: 'next',
  ArrowDown: 'next',
  k: 'previous',
  ArrowUp: 'previous',
  a: 'approve',
  r: 'reject',
  o: 'open',
  '?': 'keys',
};

/** The command of a key, where a key may be one. */
export function commandOf(event: {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  target: EventTarget | null;
}): Command | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const { target, key } = event;
  if (target instanceof Element) {
    if (target.closest('textarea, select, input, dialog')) return null;
    // Where arrows have a meaning of their own they keep it.
    if (key.startsWith('Arrow') && target.closest('[role="tablist"], [role="application"], pre, .unified-lines'))
      return null;
  }
  if (/^[1-9]$/.test(key)) return { choose: Number(key) - 1 };
  return COMMANDS[key] ?? null;
}
