// The runs that were begun or opened in this browser: the API has no list of them, and does not tell what they were given.

import type { Draft } from './inputs';
import type { Bounds } from './LimitFields';
import type { SimulateInput } from '../../generated/graphql';

/** A run that was begun or opened here. */
export interface Recent {
  sim: string;
  program: string;
  function: string;
  revision: number | null;
  /** What it was given, as it was sent. */
  run: SimulateInput;
  /** Where its inputs came from, in words. */
  origin: string;
  /** Whether it was opened here and begun elsewhere: of what it was given, only the arguments are known. */
  elsewhere?: boolean;
  /** The test case that it was kept as. */
  kept?: string;
  at: string;
}

/** What a form held when a run was begun with it. */
export interface Entered {
  drafts: readonly Draft[];
  stdin: string;
  bounds: Bounds;
}

/** By what takes it, while the page lives. */
const entered = new Map<string, Entered>();

/** What was entered last for something with this signature. */
export function lastEntered(program: string, signature: string): Entered | undefined {
  return entered.get(`${program} ${signature}`);
}

/** Keeps what was entered, so that whoever comes back finds it. */
export function keepEntered(program: string, signature: string, what: Entered): void {
  entered.set(`${program} ${signature}`, what);
}

const KEY = 'lmlang.runs';
const KEPT = 40;

/** The runs that a text of the storage tells of; what is malformed is none. */
export function readRecent(text: string | null): Recent[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(found)) return [];
    return found.filter(
      (each): each is Recent =>
        typeof each === 'object' &&
        each !== null &&
        typeof each.sim === 'string' &&
        typeof each.function === 'string' &&
        typeof each.origin === 'string' &&
        Array.isArray(each.run?.args),
    );
  } catch {
    return [];
  }
}

/** The list with another run in front. */
export function withRun(list: readonly Recent[], run: Recent): Recent[] {
  return [run, ...list.filter(({ sim }) => sim !== run.sim)].slice(0, KEPT);
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // Some browsers keep nothing for a page that they do not trust.
    return null;
  }
}

/** The runs that were begun or opened here, the newest first. */
export function recentRuns(): Recent[] {
  return readRecent(read());
}

/** The run with an id, if it was begun or opened here. */
export function recentRun(sim: string): Recent | undefined {
  return recentRuns().find((run) => run.sim === sim);
}

/** The run with an id, if it was begun here: of it is known all that it was given. */
export function begunRun(sim: string): Recent | undefined {
  const run = recentRun(sim);
  return run?.elsewhere ? undefined : run;
}

/** Remembers a run. */
export function rememberRun(run: Recent): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(withRun(recentRuns(), run)));
  } catch {
    // Without it the run is still there by its address.
  }
}
