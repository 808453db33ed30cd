import type { MapCallsQuery, MapFunctionFragment, MapModulesQuery } from '../../generated/graphql';
import type { Flaws } from '../../lib/flaws';
import { byPath } from '../../lib/paths';

/** A module as the server tells it. */
export type ModuleData = NonNullable<NonNullable<MapModulesQuery['program']>['modules']>['nodes'][number];
/** A function as the server tells it. */
export type FunctionData = MapFunctionFragment;
/** A call as the server tells it. */
export type CallData = NonNullable<NonNullable<MapCallsQuery['program']>['callGraph']>['nodes'][number];

/** How a function stands. Each has a colour and a shape of its own. */
export type State = 'fine' | 'findings' | 'incomplete' | 'imported';

/** A function on the map. */
export interface MapFunction {
  ref: string;
  name: string;
  path: string;
  module: string;
  /** How many nodes it has. */
  size: number;
  findings: number;
  state: State;
  /** Refs of the functions that call it, and of those that it calls; itself left out. */
  callers: readonly string[];
  callees: readonly string[];
}

/** A module on the map, with its functions by path. */
export interface MapModule {
  ref: string;
  path: string;
  functions: readonly MapFunction[];
  /** The worst of its functions' states. */
  state: State;
  /** In how many of its functions something is found. */
  flaws: Flaws;
}

/** Who calls whom: two functions, or modules whose functions do. */
export interface Link {
  from: string;
  to: string;
}

/** A whole program, as its map and table show it. */
export interface ProgramMap {
  /** Those with functions, by path. */
  modules: readonly MapModule[];
  functions: ReadonlyMap<string, MapFunction>;
  calls: readonly Link[];
}

function stateOf({ complete, diagnostics, import: imported }: FunctionData): State {
  if (!complete) return 'incomplete';
  if ((diagnostics?.totalCount ?? 0) > 0) return 'findings';
  return imported ? 'imported' : 'fine';
}

function worstOf(functions: readonly MapFunction[]): State {
  const states = new Set(functions.map(({ state }) => state));
  return states.has('incomplete') ? 'incomplete' : states.has('findings') ? 'findings' : 'fine';
}

/** Things by what they have in common, in their order. */
export function groupedBy<Thing, Key>(things: readonly Thing[], keyOf: (thing: Thing) => Key): Map<Key, Thing[]> {
  const groups = new Map<Key, Thing[]>();
  for (const thing of things) {
    const key = keyOf(thing);
    const group = groups.get(key);
    if (group) group.push(thing);
    else groups.set(key, [thing]);
  }
  return groups;
}

/** Puts together what the server tells of a program. */
export function mapOf(
  modules: readonly ModuleData[],
  functions: readonly FunctionData[],
  calls: readonly CallData[],
): ProgramMap {
  const callers = new Map<string, string[]>(functions.map(({ ref }) => [ref, []]));
  const callees = new Map<string, string[]>(functions.map(({ ref }) => [ref, []]));
  const links: Link[] = [];
  for (const { caller, callee } of calls) {
    const to = callers.get(callee.ref);
    const from = callees.get(caller.ref);
    // Pages of two moments may tell of functions that only one of them has.
    if (!to || !from || caller.ref === callee.ref) continue;
    to.push(caller.ref);
    from.push(callee.ref);
    links.push({ from: caller.ref, to: callee.ref });
  }
  const all = functions.map((data): MapFunction => {
    const { ref, name, path, module, nodes, diagnostics } = data;
    return {
      ref,
      name,
      path,
      module: module.ref,
      size: nodes?.totalCount ?? 0,
      findings: diagnostics?.totalCount ?? 0,
      state: stateOf(data),
      callers: callers.get(ref) ?? [],
      callees: callees.get(ref) ?? [],
    };
  });
  all.sort(byPath);
  const inModules = groupedBy(all, ({ module }) => module);
  const shown = modules.flatMap(({ ref, path }): MapModule[] => {
    const functions = inModules.get(ref);
    if (!functions) return [];
    const flaws = {
      functions: functions.filter(({ findings }) => findings > 0).length,
      incomplete: functions.filter(({ state }) => state === 'incomplete').length,
    };
    return [{ ref, path, functions, state: worstOf(functions), flaws }];
  });
  shown.sort(byPath);
  return { modules: shown, functions: new Map(all.map((found) => [found.ref, found])), calls: links };
}

/** More functions than these begin with their modules closed. */
const OPEN_AT_MOST = 400;

/** The modules that are open before the reader has chosen any. */
export function openAtFirst({ modules, functions }: ProgramMap): ReadonlySet<string> {
  return new Set(functions.size <= OPEN_AT_MOST || modules.length === 1 ? modules.map(({ ref }) => ref) : []);
}

/** The functions with a text in their path, in capitals or not; null when nothing is looked for. */
export function found({ functions }: ProgramMap, text: string): ReadonlySet<string> | null {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return null;
  const matches = [...functions.values()].filter(({ path }) => path.toLowerCase().includes(wanted));
  return new Set(matches.map(({ ref }) => ref));
}

/** A row of the table: a module, or a function of one that is open. */
export type Row = { kind: 'module'; module: MapModule; open: boolean } | { kind: 'function'; listed: MapFunction };

/** The rows of the table: while something is looked for, the functions that are like it, under their modules. */
export function rowsOf(
  { modules }: ProgramMap,
  open: ReadonlySet<string>,
  matches: ReadonlySet<string> | null,
): readonly Row[] {
  return modules.flatMap((module): Row[] => {
    const listed = matches ? module.functions.filter(({ ref }) => matches.has(ref)) : module.functions;
    if (matches && listed.length === 0) return [];
    const isOpen = matches !== null || open.has(module.ref);
    const rows = isOpen ? listed.map((found): Row => ({ kind: 'function', listed: found })) : [];
    return [{ kind: 'module', module, open: isOpen }, ...rows];
  });
}

/** What fades on the picture while something is looked for is all but these: functions, and closed modules with some. */
export function litBy({ functions }: ProgramMap, matches: ReadonlySet<string>): ReadonlySet<string> {
  const lit = new Set(matches);
  for (const ref of matches) lit.add(functions.get(ref)?.module ?? '');
  return lit;
}
