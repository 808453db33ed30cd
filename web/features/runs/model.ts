import type { RunEventKind, RunRowFragment, RunStatus } from '../../generated/graphql';
import type { Tone } from '../../ui';

/** A run, as the list has it. */
export type Run = RunRowFragment;

/** What a status is called, and in which colour. */
export const STATUSES: Record<RunStatus, { word: string; tone: Tone; title: string }> = {
  RUNNING: { word: 'running', tone: 'info', title: 'A node of it is at work.' },
  WAITING: { word: 'waiting', tone: 'warn', title: 'It waits for an answer.' },
  COMPLETED: { word: 'completed', tone: 'ok', title: 'It came to its end.' },
  FAILED: { word: 'failed', tone: 'error', title: 'A node of it failed, and nothing is left to try.' },
  CANCELLED: { word: 'cancelled', tone: 'plain', title: 'Somebody ended it.' },
  SUPERSEDED: { word: 'superseded', tone: 'plain', title: 'It was taken back, and does not count any more.' },
};

/** All of them, in the order of a filter. */
export const RUN_STATUSES = Object.keys(STATUSES) as RunStatus[];

/** Whether nothing more comes of a run by itself. */
export function isOver(status: RunStatus): boolean {
  return status !== 'RUNNING' && status !== 'WAITING';
}

/** A short form of an id that is long: its end, since ids that were made at about the same time begin alike. */
export function shortId(id: string): string {
  return id.length > 13 ? `…${id.slice(-8)}` : id;
}

/** What a filter lets through. */
export interface Filter {
  flow: string | null;
  status: RunStatus | null;
  session: string | null;
}

function passes({ flow, status, session }: Filter, run: Run): boolean {
  return (
    (flow === null || run.flow.name === flow) &&
    (status === null || run.status === status) &&
    (session === null || run.session.id === session)
  );
}

/**
 * A list of runs, the newest first, with what has become of some of them since it was loaded.
 *
 * A run that the filter does not let through any more leaves the list; null stands for one that is gone.
 */
export function merged(loaded: readonly Run[], fresh: ReadonlyMap<string, Run | null>, filter: Filter): Run[] {
  const known = new Set(loaded.map(({ id }) => id));
  const added = [...fresh].flatMap(([id, run]) => (run && !known.has(id) ? [run] : []));
  const all = [...added, ...loaded.flatMap((run) => (fresh.has(run.id) ? (fresh.get(run.id) ?? []) : run))];
  // A run that was not loaded yet and is older than all that were comes with its page.
  const oldest = loaded.at(-1);
  const start = oldest ? Date.parse(oldest.createdAt) : -Infinity;
  return all
    .filter((run) => passes(filter, run) && (known.has(run.id) || Date.parse(run.createdAt) >= start))
    .sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
}

/** More runs than these at once are one reason to load the list again. */
const SINGLY = 12;

/** What to ask for after events: some runs, or the whole list. */
export function toReread(events: readonly { runId: string; kind: RunEventKind }[]): readonly string[] | 'all' {
  const runs = [...new Set(events.map(({ runId }) => runId))];
  return runs.length > SINGLY || events.some(({ kind }) => kind === 'GAP') ? 'all' : runs;
}

/** The kinds of events that change how a run stands in a list. */
export const LISTED_KINDS: readonly RunEventKind[] = [
  'STARTED',
  'NODE_STARTED',
  'NODE_FINISHED',
  'INTERRUPTED',
  'ANSWERED',
  'RETRIED',
  'ESCALATED',
  'FINISHED',
  'GAP',
];

/** Why a run failed, as it says it. */
export function errorOf(
  error: unknown,
): { code: string; message: string; node: string | null; attempt: number | null } | null {
  if (error === null || error === undefined) return null;
  if (typeof error !== 'object') return { code: 'ERROR', message: String(error), node: null, attempt: null };
  const { code, message, node, attempt } = error as Record<string, unknown>;
  return {
    code: typeof code === 'string' ? code : 'ERROR',
    message: typeof message === 'string' ? message : JSON.stringify(error),
    node: typeof node === 'string' ? node : null,
    attempt: typeof attempt === 'number' ? attempt : null,
  };
}
