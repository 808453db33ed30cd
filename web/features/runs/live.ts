// What a run is doing at this moment, from its events: no event is kept, the next page of steps has what came of it.
import type { RunEventKind, RunStatus } from '../../generated/graphql';

/** An event of a run. */
export interface Event {
  at: string;
  kind: RunEventKind;
  node: string | null;
  text: string | null;
  /** Whether a model begins anew: what it has written does not count. */
  restarted?: boolean;
  /** What was called, where something was. */
  called?: string;
}

/** An event as the server tells it. */
export interface Told {
  at: string;
  kind: RunEventKind;
  node?: string | null;
  text?: string | null;
  data?: unknown;
}

/** What matters of an event here. */
export function eventOf({ at, kind, node, text, data }: Told): Event {
  const more = (data ?? {}) as Record<string, unknown>;
  const event: Event = { at, kind, node: node ?? null, text: text ?? null };
  if (more['restarted'] === true) event.restarted = true;
  if (kind === 'TOOL_CALLED') event.called = calledOf(event.text ?? 'a tool', more);
  return event;
}

/** What was called, in a line, with what it said if it did. */
function calledOf(name: string, { kind, ok, code, notes }: Record<string, unknown>): string {
  const noted = (notes ?? {}) as Record<string, unknown>;
  if (noted['gen_ai.provider.name'] === 'rules') return 'decided by rules, no model';
  const line = kind === 'model' ? `asked ${name}` : `called ${name}`;
  if (ok === false) return `${line}, which failed${typeof code === 'string' ? `: ${code}` : ''}`;
  const said = noted['lmlang.tool.said'];
  return typeof said === 'string' ? `${line}: ${said}` : line;
}

/** A node that is at work. */
export interface Working {
  node: string;
  since: string;
  /** What a model has written so far. */
  text: string;
  /** Tools that were called, and tries that failed. */
  lines: readonly string[];
}

/** More characters of a model than these are not kept: the end is what is new. */
const KEPT = 20_000;
const LINES = 50;

function changed(now: readonly Working[], node: string, at: string, change: (working: Working) => Working): Working[] {
  const known = now.some((working) => working.node === node);
  const all = known ? now : [...now, { node, since: at, text: '', lines: [] }];
  return all.map((working) => (working.node === node ? change(working) : working));
}

/** What is at work after an event. */
export function afterEvent(
  now: readonly Working[],
  { kind, at, text, restarted, called, ...event }: Event,
): readonly Working[] {
  const node = event.node ?? now.at(-1)?.node ?? null;
  const line = (words: string) =>
    node === null
      ? now
      : changed(now, node, at, (working) => ({ ...working, lines: [...working.lines, words].slice(-LINES) }));
  switch (kind) {
    case 'NODE_STARTED':
      if (node === null) return now;
      return [...now.filter((working) => working.node !== node), { node, since: at, text: '', lines: [] }];
    case 'MODEL_DELTA':
      if (node === null || (!text && !restarted)) return now;
      return changed(now, node, at, (working) => ({
        ...working,
        text: ((restarted ? '' : working.text) + (text ?? '')).slice(-KEPT),
      }));
    case 'TOOL_CALLED':
      return line(called ?? `called ${text ?? 'a tool'}`);
    case 'RETRIED':
      if (node === null) return now;
      // What the failed try has written is in its own step.
      return changed(now, node, at, (working) => ({
        ...working,
        text: '',
        lines: [...working.lines, `tried again${text ? `: ${text}` : ''}`].slice(-LINES),
      }));
    case 'NODE_FINISHED':
      return now.filter((working) => working.node !== node);
    case 'INTERRUPTED':
    case 'ESCALATED':
      return event.node === null ? [] : now.filter((working) => working.node !== node);
    case 'FINISHED':
    case 'GAP':
      return [];
    case 'STARTED':
    case 'STATE_UPDATED':
    case 'ANSWERED':
    case 'LISTENING':
      return now;
  }
}

/**
 * Whether an event tells of something that can be asked for.
 *
 * A gap does: whatever is stored and was not told is behind what has been loaded.
 */
export function isNews(kind: RunEventKind): boolean {
  return kind !== 'MODEL_DELTA' && kind !== 'TOOL_CALLED' && kind !== 'LISTENING';
}

/** What is at work, also where nobody has heard it begin: the node at which a run stands, since its last step. */
export function atWork(
  told: readonly Working[],
  run: { status: RunStatus; node: string | null; createdAt: string },
  steps: readonly { node: string; endedAt: string | null }[],
): readonly Working[] {
  if (run.status !== 'RUNNING') return [];
  const listed = steps.some(({ endedAt }) => endedAt === null);
  if (told.length > 0 || run.node === null || listed) return told;
  const since = steps.reduce(
    (last, { endedAt }) => (endedAt !== null && endedAt > last ? endedAt : last),
    run.createdAt,
  );
  return [{ node: run.node, since, text: '', lines: [] }];
}
