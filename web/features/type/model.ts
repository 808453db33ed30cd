// What a type consists of, and who uses it; types as they are written, cut at the names that stand for others.
import type { TypeFactsFragment, TypeNamedQuery, TypeUsePageFragment } from '../../generated/graphql';

/** A type, as it says of itself. */
export type Facts = TypeFactsFragment;
/** What an address leads to. */
export type Named = NonNullable<TypeNamedQuery['program']>;
/** Where a type is mentioned. */
export type Use = TypeUsePageFragment['nodes'][number];

/** What a type is called. */
export interface TypeName {
  ref: string;
  path: string;
}

/** Finds the type that a name means, as seen from a module; null where it means none. */
export type Resolve = (name: string, module: string | null) => string | null;

/** The module around one, or around what stands in one; null at the top. */
function around(path: string): string | null {
  const end = path.lastIndexOf('::');
  return end < 0 ? null : path.slice(0, end);
}

/** Looks names up as the text form does: in the nearest module around that has one; from nowhere, a name that is there once. */
export function resolverOf(types: readonly TypeName[]): Resolve {
  const byPath = new Map(types.map(({ ref, path }) => [path, ref]));
  const byName = new Map<string, string | null>();
  for (const { ref, path } of types) {
    const name = path.slice((around(path)?.length ?? -2) + 2);
    byName.set(name, byName.has(name) ? null : ref);
  }
  return (name, module) => {
    const given = /#(t\d+)$/.exec(name)?.[1];
    if (given !== undefined) return given;
    for (let scope = module; scope !== null; scope = around(scope)) {
      const found = byPath.get(`${scope}::${name}`);
      if (found !== undefined) return found;
    }
    return byPath.get(name) ?? (module === null ? (byName.get(name) ?? null) : null);
  };
}

/** A part of a type as it is written: a name that stands for a type of the program, by its ref, or what is between. */
export interface Part {
  text: string;
  type: string | null;
}

/** A path, with its ref where it needs one; what stands before a colon is the name of a parameter. */
const NAME = /(?<![\w.#])[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*(?:#t\d+)?\b(?!\s*:(?!:))/g;

/** Cuts types, or a signature, at the names in them. */
export function partsOf(text: string, resolve: Resolve, module: string | null): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const { 0: name, index } of text.matchAll(NAME)) {
    const type = resolve(name, module);
    if (type === null) continue;
    if (index > end) parts.push({ text: text.slice(end, index), type: null });
    parts.push({ text: name.replace(/#t\d+$/, ''), type });
    end = index + name.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), type: null });
  return parts;
}

function mentions(text: string, ref: string, resolve: Resolve, module: string | null): boolean {
  return partsOf(text, resolve, module).some(({ type }) => type === ref);
}

/** A field, or a variant with what it carries. */
export interface Member {
  ref: string;
  name: string;
  doc: string | null;
  /** Null for a variant that carries nothing. */
  type: string | null;
}

/** What a type consists of, in order. */
export function membersOf({ fields, variants }: Facts): Member[] {
  return [...fields, ...variants.map(({ payload, ...variant }) => ({ ...variant, type: payload }))];
}

/** A type that contains another one. */
export interface Container extends TypeName {
  /** The fields or variants in which it does; none where it does through other types. */
  members: string[];
}

/** The types that contain one, those that name it first. */
export function containersOf({ impact }: Named, ref: string, resolve: Resolve): Container[] {
  const others = (impact?.types ?? []).filter((each) => each.ref !== ref);
  const found = others.map(({ ref: of, path, fields, variants }) => ({
    ref: of,
    path,
    members: [...fields, ...variants.map(({ name, payload }) => ({ name, type: payload ?? '' }))]
      .filter(({ type }) => mentions(type, ref, resolve, null))
      .map(({ name }) => name),
  }));
  return found.sort((a, b) => Number(a.members.length === 0) - Number(b.members.length === 0));
}

/** The type that an address names among what was found; none where the name is that of something else. */
export function foundBy({ impact }: Named, name: string): NonNullable<Named['impact']>['types'][number] | undefined {
  const types = impact?.types ?? [];
  const bare = (path: string) => path.slice(path.length - name.length - 2) === `::${name}`;
  return types.find(({ ref, path }) => ref === name || path === name) ?? types.find(({ path }) => bare(path));
}

/** The storage that holds values of a type. */
export function holdersOf({ storage }: Named, ref: string, resolve: Resolve) {
  return (storage?.nodes ?? []).filter(({ type }) => type !== null && mentions(type, ref, resolve, null));
}

/** What a function does with a type, as its signature tells. */
export function roleOf(
  signature: string,
  ref: string,
  resolve: Resolve,
  module: string,
): 'takes' | 'gives' | 'takes and gives' | 'inside' {
  let depth = 0;
  let end = 0;
  // The arrow of a closure stands in brackets.
  for (; end < signature.length; end += 1) {
    if (signature[end] === '(') depth += 1;
    if (signature[end] === ')' && --depth === 0) break;
  }
  const takes = mentions(signature.slice(0, end), ref, resolve, module);
  const gives = mentions(signature.slice(end + 1), ref, resolve, module);
  return takes ? (gives ? 'takes and gives' : 'takes') : gives ? 'gives' : 'inside';
}

/** The nodes of a function that do something with a type. */
export interface UseGroup {
  /** The path of the function; null for what is in none. */
  path: string | null;
  uses: { ref: string; text: string; reason: string }[];
}

/** Uses by the function that they are in, in the order in which these come up first. */
export function usesByFunction(uses: readonly Use[]): UseGroup[] {
  const groups = new Map<string | null, UseGroup>();
  for (const { kind, ref, text, reason } of uses) {
    const cut = kind === 'NODE' ? text.indexOf(': ') : -1;
    const path = cut < 0 ? null : text.slice(0, cut);
    const group = groups.get(path) ?? { path, uses: [] };
    const line = text.slice(cut < 0 ? 0 : cut + 2).replaceAll(/#[a-z]\d+\b/g, '');
    // What has no name stands under its ref, which is told apart.
    group.uses.push({ ref, text: line.startsWith(`${ref} = `) ? line.slice(ref.length + 3) : line, reason });
    groups.set(path, group);
  }
  return [...groups.values()];
}
