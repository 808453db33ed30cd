import type { OverviewFunctionsQuery, OverviewModuleFragment } from '../../generated/graphql';

/** A module of the overview. */
export type Module = OverviewModuleFragment;
/** A function of the overview. */
export type Listed = NonNullable<NonNullable<OverviewFunctionsQuery['program']>['functions']>['nodes'][number];

/** A module with those of its functions that are shown. */
export interface Group {
  module: Module;
  functions: Listed[];
  /** How many of them have findings. */
  flawed: number;
}

/** Puts functions under their modules, by path; further modules, of which no function is shown, are told too. */
export function grouped(functions: readonly Listed[], further: readonly Module[]): Group[] {
  const groups = new Map<string, Group>();
  const groupOf = (module: Module): Group => {
    const group = groups.get(module.ref) ?? { module, functions: [], flawed: 0 };
    groups.set(module.ref, group);
    return group;
  };
  for (const module of further) groupOf(module);
  for (const listed of functions) {
    const group = groupOf(listed.module);
    group.functions.push(listed);
    if (findings(listed) > 0) group.flawed += 1;
  }
  return [...groups.values()].sort((a, b) => (a.module.path < b.module.path ? -1 : 1));
}

/** How many functions are shown of a module, of how many: `2 of 12` while more are to come, or others are left out. */
export function shownOf({ module, functions }: Group): { shown: number; of: number } {
  return { shown: functions.length, of: Math.max(functions.length, module.functions?.totalCount ?? 0) };
}

/**
 * How many functions of a module have findings; where not all of them are shown, how many are incomplete, if that is known,
 * else how many of those that are shown have findings. Null where that are none.
 */
export function flawedWords(group: Group, incomplete: number | undefined): string | null {
  const { shown, of } = shownOf(group);
  if (shown < of && incomplete !== undefined) return incomplete > 0 ? `${incomplete} incomplete` : null;
  if (group.flawed === 0) return null;
  return shown < of ? `${group.flawed} of those shown with diagnostics` : `${group.flawed} with diagnostics`;
}

/** How many findings a function has. */
export function findings({ diagnostics }: Pick<Listed, 'diagnostics'>): number {
  return diagnostics?.totalCount ?? 0;
}
