import { createContext, use, useEffect, useMemo, useRef, type ReactNode } from 'react';

import { CallerDocument, type CallerQuery, type TokenScope } from '../generated/graphql';
import { useAsk } from './ask';

/** Who the reader is to the server. */
export interface Caller {
  /** The name that changes are recorded under; null until the server has said it. */
  name: string | null;
  /** What the reader may do, in words; null until the server has said it. */
  may: string | null;
  /** Why the reader may not do what needs a scope, in words; null where they may. */
  lacks(scope: TokenScope): string | null;
}

const MAY: Record<TokenScope, string> = {
  READ: 'look',
  SIMULATE: 'run functions',
  EDIT: 'change anything',
  ADMIN: 'manage the server',
};

/** What scopes are good for, as one sentence goes on: each lets its holder look, and `ADMIN` is good for all. */
function mayWords(scopes: readonly TokenScope[]): string {
  const all = Object.keys(MAY) as TokenScope[];
  const held = all.filter((scope) => scope === 'READ' || scopes.includes(scope) || scopes.includes('ADMIN'));
  const words = held.map((scope) => MAY[scope]);
  return words.length === 1 ? `only ${words[0]}` : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** What the server says of the caller, as buttons need it. Until it is there nothing is forbidden: the server decides. */
export function callerOf(caller: CallerQuery['caller'] | undefined): Caller {
  return {
    name: caller?.actor.name ?? null,
    may: caller ? mayWords(caller.scopes) : null,
    lacks: (scope) =>
      !caller || caller.scopes.includes(scope) || caller.scopes.includes('ADMIN')
        ? null
        : `Your token does not let you ${MAY[scope]}: it lacks the scope ${scope}.`,
  };
}

const Context = createContext<Caller>(callerOf(undefined));

/** Asks once who the reader is, and again when they give themselves another name. */
export function CallerProvider({ author, children }: { author: string | null; children: ReactNode }) {
  const { data, refresh } = useAsk(CallerDocument, {}, { requestPolicy: 'cache-first' });
  const asked = useRef(author);
  useEffect(() => {
    if (asked.current === author) return;
    asked.current = author;
    refresh();
  }, [author, refresh]);
  const caller = useMemo(() => callerOf(data?.caller), [data]);
  return <Context value={caller}>{children}</Context>;
}

/** The reader, as the server knows them. */
export function useCaller(): Caller {
  return use(Context);
}
