import type { OverviewFunctionsQuery, OverviewQuery } from '../../generated/graphql';

type Overview = NonNullable<OverviewQuery['program']>;

/** A module of the overview. */
export type Module = NonNullable<Overview['modules']>['nodes'][number];
/** A function of the overview. */
export type Listed = NonNullable<NonNullable<OverviewFunctionsQuery['program']>['functions']>['nodes'][number];

/** A module with those of its functions that are shown. */
export interface Group {
  module: Module;
  functions: Listed[];
  /** How many of them have findings. */
  flawed: number;
}

/** Puts functions under their modules, modules by path; modules without functions are told too unless something is looked for. */
export function grouped(modules: readonly Module[], functions: readonly Listed[], all: boolean): Group[] {
  const groups = new Map(modules.map((module) => [module.ref, { module, functions: [] as Listed[], flawed: 0 }]));
  for (const listed of functions) {
    const group = groups.get(listed.module.ref);
    if (!group) continue;
    group.functions.push(listed);
    if (findings(listed) > 0) group.flawed += 1;
  }
  return [...groups.values()]
    .filter(({ functions }) => all || functions.length > 0)
    .sort((a, b) => (a.module.path < b.module.path ? -1 : 1));
}

/** How many findings a function has. */
export function findings({ diagnostics }: Pick<Listed, 'diagnostics'>): number {
  return diagnostics?.totalCount ?? 0;
}
