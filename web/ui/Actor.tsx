import { Bot, Cog, Server, User, Workflow, type LucideIcon } from 'lucide-react';

import { Badge, type Tone } from './Badge';

const KINDS: Record<string, { icon: LucideIcon; word: string; tone: Tone }> = {
  AGENT: { icon: Bot, word: 'agent', tone: 'violet' },
  FLOW: { icon: Workflow, word: 'flow', tone: 'teal' },
  HUMAN: { icon: User, word: 'human', tone: 'info' },
  SYSTEM: { icon: Server, word: 'system', tone: 'plain' },
  TOOL: { icon: Cog, word: 'tool', tone: 'plain' },
};

/** Who did something: the kind of author by icon and word, then the name. */
export function Actor({ kind, name }: { kind: string; name: string }) {
  const { icon: Icon, word, tone } = KINDS[kind] ?? { icon: Cog, word: kind.toLowerCase(), tone: 'plain' as const };
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 6, minWidth: 0 }}>
      <Badge tone={tone}>
        <Icon size={12} aria-hidden />
        {word}
      </Badge>
      <span style={{ fontWeight: 500, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>
        {name}
      </span>
    </span>
  );
}
