import type { VerifyAttemptsSubscription, VerifyCasesQuery, VerifyFunctionsQuery } from '../../generated/graphql';
import { byPath } from '../../lib/paths';
import { givenOf } from '../../lib/values';
import { counted } from '../../ui';
import type { Finding } from '../preview';

type Functions = NonNullable<NonNullable<VerifyFunctionsQuery['program']>['functions']>;
/** A function with what it demands and promises. */
export type Contracted = Functions['nodes'][number];
type Cases = NonNullable<NonNullable<VerifyCasesQuery['program']>['cases']>;
/** A test case, and how it stands. */
export type Case = Cases['nodes'][number];
/** How far the search for inputs that break a function has come. */
export type Attempt = VerifyAttemptsSubscription['contractAttempts'];
/** An input that breaks a function. */
export type Counterexample = NonNullable<Attempt['counterexample']>;

/** Which findings are shown. */
export interface Filter {
  code: string | null;
  /** A part of the path of a function, or its ref. */
  fn: string | null;
}

/** A function with the findings in it. */
export interface Group {
  /** Null for what is in no function. */
  function: string | null;
  path: string;
  findings: Finding[];
}

/** Puts findings under their functions, as far as the filter lets them through; what is in none stands first. */
export function grouped(findings: readonly Finding[], paths: ReadonlyMap<string, string>, filter: Filter): Group[] {
  const groups = new Map<string | null, Group>();
  const wanted = filter.fn?.toLowerCase();
  for (const finding of findings) {
    if (filter.code !== null && finding.code !== filter.code) continue;
    const ref = finding.details?.function ?? null;
    const path = ref === null ? 'the program' : (paths.get(ref) ?? ref);
    if (wanted && ref !== wanted && !path.toLowerCase().includes(wanted)) continue;
    const group = groups.get(ref) ?? { function: ref, path, findings: [] };
    group.findings.push(finding);
    groups.set(ref, group);
  }
  return [...groups.values()].sort((a, b) => Number(a.function !== null) - Number(b.function !== null) || byPath(a, b));
}

/** How often each code occurs, the most frequent first. */
export function codesOf(findings: readonly Finding[]): [code: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { code } of findings) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
}

/** The state of a search. */
export interface Search {
  status: 'idle' | 'running' | 'done' | 'cancelled' | 'failed';
  attempts: ReadonlyMap<string, Attempt>;
}

/** Before any search. */
export const IDLE: Search = { status: 'idle', attempts: new Map() };

/** A search that has come further. What a function has ended with stays. */
export function further(search: Search, attempt: Attempt): Search {
  return { ...search, attempts: new Map(search.attempts).set(attempt.function, attempt) };
}

/** How many functions of a search are done. */
export function doneOf({ attempts }: Search): number {
  return [...attempts.values()].filter(({ ending }) => ending !== null).length;
}

/** How many functions of a search were found to break. */
export function brokenOf({ attempts }: Search): number {
  return [...attempts.values()].filter(({ ending }) => ending === 'FOUND').length;
}

/** What is said of a search over so many functions. */
export function saying(search: Search, total: number): string {
  const [done, broken] = [doneOf(search), brokenOf(search)];
  const found = broken > 0 ? `, ${broken.toLocaleString('en')} broken` : '';
  switch (search.status) {
    case 'running':
      return `${done} of ${counted(total, 'function')} done${found}`;
    case 'cancelled':
      return `Cancelled${found}.`;
    case 'done':
      return `Done: ${counted(done, 'function')}${found}.`;
    case 'idle':
    case 'failed':
      return '';
  }
}

/** How a search of one function ended, in words, and whether that is good. */
export function endingOf(
  { ending, message }: Attempt,
  running: boolean,
): { word: string; tone: 'ok' | 'warn' | 'error' | 'plain' } {
  switch (ending) {
    case null:
      return { word: running ? 'searching' : 'stopped', tone: 'plain' };
    case 'FOUND':
      return { word: 'broken', tone: 'error' };
    case 'TRIED':
      return { word: 'held', tone: 'ok' };
    case 'GAVE_UP':
      return { word: 'few inputs fit', tone: 'warn' };
    case 'OUT_OF_TIME':
      return { word: 'out of time', tone: 'warn' };
    case 'REFUSED':
      return { word: message ?? 'cannot be run', tone: 'warn' };
  }
}

/** A value as people write it, which is its text: the type of a number stands in the signature anyway. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') {
    const [, text] = /^(?:[iuf]\d+|bool|char):(.*)$/s.exec(value) ?? [];
    return text ?? value;
  }
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([name, part]) => `${name}: ${valueText(part)}`)
      .join(', ')}}`;
  return String(value);
}

/** Several values: `10, 2`. */
export function valuesText(values: readonly unknown[]): string {
  return values.map(valueText).join(', ');
}

/** What is told of a case that is not green: what came in place of what was expected, or the words of the server. */
export function caseTold({ status, expected, returned, message }: CaseResult): string | null {
  if (status !== 'GREEN' && expected && returned)
    return `expected ${valuesText(expected)}, returned ${valuesText(returned)}`;
  return message;
}

type CaseResult = Pick<Case, 'status' | 'expected' | 'returned' | 'message'>;

/** The arguments of a counterexample as they are sent. */
export function argsOf({ args, function: { params } }: Pick<Counterexample, 'args' | 'function'>): unknown[] {
  return args.map((value, at) => givenOf(params[at]?.type, value));
}

/** How many cases stand how. */
export function countsOf(cases: readonly Case[]): Record<Case['status'], number> {
  const counts = { GREEN: 0, RED: 0, STALE: 0 };
  for (const { status } of cases) counts[status] += 1;
  return counts;
}

/** Cases under their functions, by path, the red ones first. */
export function casesByFunction(cases: readonly Case[]): [path: string, cases: Case[]][] {
  const order = { RED: 0, STALE: 1, GREEN: 2 };
  const groups = new Map<string, Case[]>();
  for (const each of cases) groups.set(each.function.path, [...(groups.get(each.function.path) ?? []), each]);
  for (const group of groups.values())
    group.sort((a, b) => order[a.status] - order[b.status] || (a.name < b.name ? -1 : 1));
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}
