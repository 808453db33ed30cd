import type { ReactNode } from 'react';

/** What a colour of a badge stands for. The text says it too: colour is never alone. */
export type Tone = 'plain' | 'ok' | 'warn' | 'error' | 'info' | 'violet' | 'teal';

/** A short fact in a box of its own. */
export function Badge({ tone = 'plain', title, children }: { tone?: Tone; title?: string; children: ReactNode }) {
  return (
    <span className={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}
