// What of a map is asked again when the program has moved on.
import type { MapDiffQuery, MapModuleQuery } from '../../generated/graphql';
import type { CallData, FunctionData, ModuleData, ProgramMap } from './model';

/** How two revisions differ, as far as a map shows it. */
export type MapDiff = NonNullable<NonNullable<MapDiffQuery['program']>['diff']>;
/** A function with what it calls. */
export type CallingData = NonNullable<NonNullable<MapModuleQuery['program']>['functions']>['nodes'][number];

/** What a map is made of. */
export interface Source {
  modules: readonly ModuleData[];
  functions: readonly FunctionData[];
  calls: readonly CallData[];
}

/** More modules than these are not asked for one by one. */
const MODULES = 12;
/** A part that is larger than this of the whole is no saving. */
const PART = 0.5;
/** So many functions are asked for at once, whatever part they are. */
const SMALL = 200;

/** The functions that differ, for who wants to see where; null where there are more than are told. */
export function changedIn({ functions }: MapDiff): string[] | null {
  if (!functions || functions.totalCount > functions.nodes.length) return null;
  return functions.nodes.map(({ ref }) => ref);
}

/**
 * The modules whose functions can look different after a difference: where functions differ, and where those are called
 * whose head does, since findings are told at the calls. Null: more can than is worth to be told apart.
 */
export function modulesOf({ functions, modules }: ProgramMap, diff: MapDiff): string[] | null {
  const changed = diff.functions;
  const edits = diff.edits;
  if (changedIn(diff) === null || !changed || !edits || edits.totalCount > edits.nodes.length) return null;
  const found = new Set<string>();
  const add = (ref: string) => {
    const module = functions.get(ref)?.module;
    if (module !== undefined) found.add(module);
  };
  for (const { ref, after } of changed.nodes) {
    add(ref);
    if (after) found.add(after.module.ref);
  }
  for (const { kind, ref } of edits.nodes) {
    // A type, a global or the name of a module is used wherever it is.
    if (/Type$|Storage$|^setModule$/.test(kind)) return null;
    if (/^(?:setHead|addFunction|removeFunction)$/.test(kind) && ref !== null)
      for (const caller of functions.get(ref)?.callers ?? []) add(caller);
  }
  const size = modules.filter(({ ref }) => found.has(ref)).reduce((sum, module) => sum + module.functions.length, 0);
  if (found.size > MODULES || (size > SMALL && size > functions.size * PART)) return null;
  return [...found];
}

/** A source with some modules as they are now. Null: some call more than is told. */
export function renewed(
  source: Source,
  modules: readonly ModuleData[],
  parts: ReadonlyMap<string, readonly CallingData[]>,
): Source | null {
  const anew = [...parts.values()].flat();
  if (anew.some(({ callees }) => !callees || callees.totalCount > callees.nodes.length)) return null;
  const refs = new Set(anew.map(({ ref }) => ref));
  const isOld = ({ ref, module }: FunctionData) => !parts.has(module.ref) && !refs.has(ref);
  const functions = [...source.functions.filter(isOld), ...anew];
  const kept = new Set(functions.filter(isOld).map(({ ref }) => ref));
  const calls = [
    ...source.calls.filter(({ caller }) => kept.has(caller.ref)),
    ...anew.flatMap(({ ref, callees }) =>
      (callees?.nodes ?? []).map((callee) => ({ caller: { ref }, callee: { ref: callee.ref } })),
    ),
  ];
  return { modules, functions, calls };
}
