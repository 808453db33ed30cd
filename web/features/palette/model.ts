import type {
  PaletteContractsQuery,
  PaletteProgramsQuery,
  PaletteRunsQuery,
  PaletteSearchQuery,
} from '../../generated/graphql';
import type { Command } from '../../lib/commands';
import { demandOf, plainText } from '../../lib/text';
import { aboutOf } from '../../lib/words';

/** Where an entry of the palette leads. */
export type Target =
  | { to: 'command'; id: string }
  | { to: 'program'; program: string }
  | { to: 'run'; run: string }
  | { to: 'function'; function: string; node: string | null }
  | { to: 'type'; type: string; member: string | null }
  | { to: 'revision'; sel: string }
  | { to: 'touching'; ref: string };

/** What kind of thing an entry is, for its icon and heading. */
export type Kind =
  'command' | 'program' | 'function' | 'node' | 'type' | 'contract' | 'module' | 'revision' | 'run' | 'other';

/** An entry of the palette. */
export interface Entry {
  /** Unique in the palette. */
  id: string;
  kind: Kind;
  label: string;
  /** What tells it from others of the name. */
  detail: string;
  target: Target;
}

type Found = NonNullable<PaletteSearchQuery['words']>['nodes'][number];
type Contract = NonNullable<NonNullable<PaletteContractsQuery['program']>['function']>['contracts'][number];

/** What contracts say, by ref, as far as that is known. */
export type Contracts = ReadonlyMap<string, Contract>;

/** The functions whose contracts are found, each once. */
export function contractOwners(found: PaletteSearchQuery | undefined): string[] {
  const contracts = found?.words?.nodes.filter(({ kind }) => kind === 'CONTRACT') ?? [];
  return [...new Set(contracts.flatMap(({ path }) => ownerOf(path) ?? []))];
}

function contractEntry({ path, ref, text }: Found, contracts: Contracts): Entry {
  const owner = ownerOf(path) ?? path;
  const contract = contracts.get(ref);
  const kind = contract?.kind.toLowerCase() ?? 'contract';
  // The search quotes its message behind the function.
  const message = contract?.message ?? /"(.*)"$/.exec(text)?.[1] ?? ref;
  return {
    id: `CONTRACT ${ref}`,
    kind: 'contract',
    label: `${owner} ${kind} “${message}”`,
    detail: contract?.text ? demandOf(contract.text).join('; ') : ref,
    target: { to: 'function', function: owner, node: /\byield#(n\d+)/.exec(contract?.text ?? '')?.[1] ?? null },
  };
}

/** Whether all words of a query occur in a label. */
export function matches(label: string, query: string): boolean {
  const text = label.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The function that something in it is called by: `m::f` of `m::f::sum`; null for what stands in none. */
export function ownerOf(path: string): string | null {
  const parts = path.split('::');
  return parts.length > 2 ? parts.slice(0, -1).join('::') : null;
}

function entryOf(found: Found, contracts: Contracts): Entry {
  const { kind, path, ref, text } = found;
  const id = `${kind} ${ref}`;
  const owner = ownerOf(path);
  const touching: Target = { to: 'touching', ref };
  switch (kind) {
    case 'FUNCTION':
      return {
        id,
        kind: 'function',
        label: path,
        detail: text.slice(path.length).trim(),
        target: { to: 'function', function: ref, node: null },
      };
    case 'NODE':
      return {
        id,
        kind: 'node',
        label: plainText(text.slice(text.indexOf(': ') + 2)),
        detail: `${owner ?? path} · ${ref}`,
        target: { to: 'function', function: owner ?? path, node: ref },
      };
    case 'TYPE':
      return ref.startsWith('t')
        ? { id, kind: 'type', label: path, detail: `type · ${ref}`, target: { to: 'type', type: ref, member: null } }
        : {
            id,
            kind: 'type',
            label: path,
            detail: `part of a type · ${ref}`,
            target: { to: 'type', type: path.replace(/\.[^.]*$/, ''), member: ref },
          };
    case 'MODULE':
      return { id, kind: 'module', label: path, detail: 'module · its history', target: touching };
    case 'CONTRACT':
      return contractEntry(found, contracts);
    case 'REGION':
    case 'VARIABLE':
      return {
        id,
        kind: 'other',
        label: path,
        detail: kind.toLowerCase(),
        target: owner === null ? touching : { to: 'function', function: owner, node: null },
      };
  }
}

/** A revision that a query names: `r12`, `12`. */
export function revisionOf(query: string): string | null {
  return /^r?(\d{1,9})$/.exec(query.trim().toLowerCase())?.[1] ?? null;
}

/** Whether a query names a node: `n12`. */
export function isNodeRef(query: string): boolean {
  return /^n\d+$/.test(query.trim());
}

/** A run that the palette may lead to. */
export type FoundRun = NonNullable<PaletteRunsQuery['runs']>['nodes'][number];

/** More runs than these are left to their own list. */
const RUNS = 6;

/** Whether a query may be the id of a run, and long enough to be asked for. */
export function isRunId(query: string): boolean {
  return query.length >= 8 && /^[\w:=-]*\d[\w:=-]*$/.test(query);
}

/** The runs that a query means: by flow, by a word of what they are about or of their conversation, by a part of the id. */
export function runsOf(query: string, runs: readonly FoundRun[]): Entry[] {
  if (query.trim() === '') return [];
  const all = [...new Map(runs.map((run) => [run.id, run])).values()];
  return all
    .map((run) => ({ run, about: aboutOf(run) }))
    .filter(({ run: { id, flow, session }, about }) =>
      matches(`${flow.name} ${about ?? ''} ${session.title ?? ''} ${id}`, query),
    )
    .slice(0, RUNS)
    .map(({ run: { id, flow, status, node }, about }) => ({
      id: `run ${id}`,
      kind: 'run',
      label: about === null ? flow.name : `${flow.name}: ${about}`,
      detail: `${status.toLowerCase()}${node ? ` at ${node}` : ''} · ${id}`,
      target: { to: 'run', run: id },
    }));
}

/** Functions that are listed at most. */
const FUNCTIONS = 8;

/** How near a path is to a query, the smaller the nearer: it or its last name is the query, begins with it, or has it. */
function distance(path: string, query: string): number {
  const wanted = query.trim().toLowerCase();
  const whole = path.toLowerCase();
  const name = whole.slice(whole.lastIndexOf(':') + 1);
  if (whole === wanted || name === wanted) return 0;
  return name.startsWith(wanted) ? 1 : 2;
}

/** What a query may mean, each thing once: what it names by ref first, then commands, functions, the rest. */
export function entriesOf(
  query: string,
  commands: readonly Command[],
  found: PaletteSearchQuery | undefined,
  programs: PaletteProgramsQuery | undefined,
  contracts: Contracts = new Map(),
): Entry[] {
  const entries: Entry[] = [];
  const program = found?.program;
  const revision = program?.revision?.number;
  // What is typed now may be another number than was asked for.
  if (revision !== undefined && revisionOf(query) === String(revision))
    entries.push({
      id: `r${revision}`,
      kind: 'revision',
      label: `r${revision}`,
      detail: 'revision',
      target: { to: 'revision', sel: `r${revision}` },
    });
  const node = program?.computeNode;
  if (node)
    entries.push({
      id: `NODE ${node.ref}`,
      kind: 'node',
      label: node.text ? plainText(node.text).trim() : node.ref,
      detail: `${node.owner.path} · ${node.ref}`,
      target: { to: 'function', function: node.owner.ref, node: node.ref },
    });
  for (const { id, label } of commands)
    if (matches(label, query))
      entries.push({ id: `command ${id}`, kind: 'command', label, detail: '', target: { to: 'command', id } });
  const functions = [...(program?.functions?.nodes ?? [])];
  functions.sort((a, b) => distance(a.path, query) - distance(b.path, query));
  for (const { ref, path, signature } of functions.slice(0, FUNCTIONS))
    entries.push({
      id: `FUNCTION ${ref}`,
      kind: 'function',
      label: path,
      detail: signature,
      target: { to: 'function', function: ref, node: null },
    });
  const named = [...(found?.words?.nodes ?? []), ...(found?.nodes?.nodes ?? [])];
  entries.push(...named.map((each) => entryOf(each, contracts)));
  const names = [
    ...(program?.branches?.nodes.map(({ name, head }) => ({ name, word: 'branch', number: head.number })) ?? []),
    ...(program?.checkpoints?.nodes.map(({ name, revision }) => ({
      name,
      word: 'checkpoint',
      number: revision?.number,
    })) ?? []),
  ];
  for (const { name, word, number } of names)
    if (number !== undefined && matches(name, query))
      entries.push({
        id: `${word} ${name}`,
        kind: 'revision',
        label: name,
        detail: `${word} at r${number}`,
        target: { to: 'revision', sel: `r${number}` },
      });
  for (const { name, doc } of programs?.programs?.nodes ?? [])
    entries.push({
      id: `program ${name}`,
      kind: 'program',
      label: name,
      detail: doc ?? 'program',
      target: { to: 'program', program: name },
    });
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}

/** The heading of a kind. */
export const HEADINGS: Record<Kind, string> = {
  command: 'Commands',
  function: 'Functions',
  node: 'Nodes',
  type: 'Types',
  contract: 'Contracts',
  module: 'Modules',
  revision: 'Revisions',
  run: 'Runs of flows',
  other: 'Variables and regions',
  program: 'Programs',
};

/** Entries under their headings, in the order in which kinds come up first. */
export function sections(entries: readonly Entry[]): [kind: Kind, entries: Entry[]][] {
  const groups = new Map<Kind, Entry[]>();
  for (const entry of entries) groups.set(entry.kind, [...(groups.get(entry.kind) ?? []), entry]);
  return [...groups];
}
