import type { OverviewFunctionsQuery, OverviewModuleFragment } from '../../generated/graphql';
import { byPath } from '../../lib/paths';

/** A module of the overview. */
export type Module = OverviewModuleFragment;
/** A function of the overview. */
export type Listed = NonNullable<NonNullable<OverviewFunctionsQuery['program']>['functions']>['nodes'][number];

/** A module with those of its functions that are shown. */
export interface Group {
  module: Listed['module'];
  /** What is known of the module; absent while it is on a later page. */
  facts: Module | undefined;
  functions: Listed[];
}

/**
 * Puts functions under their modules, by path. Of the modules that are known, those of which no function is shown are told
 * too where all functions are there: before, one without functions may be one whose functions are still to come.
 */
export function grouped(functions: readonly Listed[], known: readonly Module[], whole: boolean): Group[] {
  const facts = new Map(known.map((module) => [module.ref, module]));
  const groups = new Map<string, Group>();
  const groupOf = (module: Listed['module']): Group => {
    const group = groups.get(module.ref) ?? { module, facts: facts.get(module.ref), functions: [] };
    groups.set(module.ref, group);
    return group;
  };
  if (whole) for (const module of known) groupOf(module);
  for (const listed of functions) groupOf(listed.module).functions.push(listed);
  return [...groups.values()].sort((a, b) => byPath(a.module, b.module));
}

/** How many functions are shown of a module, of how many: `2 of 12` while more are to come, or others are left out. */
export function shownOf(shown: number, facts: Module | undefined): { shown: number; of: number } {
  return { shown, of: Math.max(shown, facts?.functions?.totalCount ?? 0) };
}

/** How many findings a function has. */
export function findings({ diagnostics }: Pick<Listed, 'diagnostics'>): number {
  return diagnostics?.totalCount ?? 0;
}
