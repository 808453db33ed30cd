import { Minus, PenLine, Plus, type LucideIcon } from 'lucide-react';

import type { Sign } from './model';

const ICONS: Record<Sign, LucideIcon> = { added: Plus, removed: Minus, changed: PenLine };

/** What became of something, by a shape and a word. */
export function SignMark({ sign }: { sign: Sign }) {
  const Icon = ICONS[sign];
  return (
    <span className={`sign-mark is-${sign}`}>
      <Icon size={11} aria-hidden />
      {sign}
    </span>
  );
}
