// What places of a run are called.
import { createContext, use } from 'react';

import type { RunNamesQuery } from '../../generated/graphql';

/** The functions of a program by ref, and what else operators mention. */
export type Names = ReadonlyMap<string, { name: string; path: string }>;

/** The names that a program has. */
export function namesOf(program: RunNamesQuery['program'] | undefined): Names {
  const parts = program?.types?.nodes.flatMap(({ fields, variants }) => [...fields, ...variants]) ?? [];
  const simple = [...parts, ...(program?.storage?.nodes ?? [])].map(({ ref, name }) => ({ ref, name, path: name }));
  const all = [...simple, ...(program?.types?.nodes ?? []), ...(program?.functions?.nodes ?? [])];
  return new Map(all.map(({ ref, name, path }) => [ref, { name, path }]));
}

/** Gives names to everything in a player. */
export const NamesContext = createContext<Names>(new Map());

/** The names of functions around. */
export function useNames(): Names {
  return use(NamesContext);
}

/** An operator with names in place of refs, but not within the text of a constant. */
export function namedOp(op: string, names: Names): string {
  const quote = op.indexOf('"');
  const [code, text] = quote < 0 ? [op, ''] : [op.slice(0, quote), op.slice(quote)];
  return code.replaceAll(/\b[a-z]\d+\b/g, (ref) => names.get(ref)?.name ?? ref) + text;
}

/** A line of the text form without the refs in it. */
export function plainLine(text: string): string {
  return text
    .trim()
    .split('\n', 1)[0]!
    .replaceAll(/#[a-z]\d+\b/g, '')
    .replace(/\s*\{$/, '');
}
