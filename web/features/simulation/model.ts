// A simulation as the player shows it: where it stands, what can be done, what is known of its length.
import type { BreakpointInput, RunStateFragment, SimulationAction, SimulationStatus } from '../../generated/graphql';
import { counted } from '../../ui';
import { paramsId, type Graph, type Mark } from '../function';

/** A value as it is written. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Where a simulation stands, as the API tells it. */
export type State = RunStateFragment;
export type Breakpoint = State['breakpoints'][number];
/** A place in a call. */
export type Place = State['stack'][number];

/** What a status means to the reader. */
export const STATUS: Record<SimulationStatus, { word: string; tone: 'plain' | 'ok' | 'warn' | 'error' | 'info' }> = {
  READY: { word: 'at the start', tone: 'plain' },
  PAUSED: { word: 'at rest', tone: 'info' },
  RUNNING: { word: 'running', tone: 'warn' },
  COMPLETED: { word: 'returned', tone: 'ok' },
  TRAPPED: { word: 'trapped', tone: 'error' },
  CONTRACT_VIOLATED: { word: 'contract violated', tone: 'error' },
  LIMIT_REACHED: { word: 'limit reached', tone: 'warn' },
  REACHED_HOLE: { word: 'reached a hole', tone: 'warn' },
  CANCELLED: { word: 'cancelled', tone: 'plain' },
  EXPIRED: { word: 'expired', tone: 'plain' },
};

/** Whether it ended by itself; from there it goes back. */
export function isEnded(status: SimulationStatus): boolean {
  return ['COMPLETED', 'TRAPPED', 'CONTRACT_VIOLATED', 'LIMIT_REACHED', 'REACHED_HOLE'].includes(status);
}

/** Whether it is over for good. */
export function isOver(status: SimulationStatus): boolean {
  return status === 'CANCELLED' || status === 'EXPIRED';
}

/** Something to do with a simulation. */
export interface Order {
  action: SimulationAction;
  steps?: number;
  seekTo?: number;
  breakpoints?: BreakpointInput[];
}

/** What the controls can do now. */
export interface Possible {
  forward: boolean;
  back: boolean;
  pause: boolean;
  cancel: boolean;
}

/** What can be done by who may only look. */
export const NOTHING: Possible = { forward: false, back: false, pause: false, cancel: false };

/** What can be done in a state. */
export function possible(status: SimulationStatus, position: number): Possible {
  const over = isOver(status);
  const running = status === 'RUNNING';
  return {
    forward: !over && !running && !isEnded(status),
    back: !over && !running && position > 0,
    pause: running,
    cancel: !over,
  };
}

/**
 * Puts an order behind those that wait.
 *
 * Keys repeat faster than the server answers: steps of one kind are added up, and of several places to go to only the
 * last one counts. Breakpoints are never lost.
 */
export function queued(waiting: readonly Order[], order: Order): Order[] {
  const last = waiting.at(-1);
  if (last?.action !== order.action) return [...waiting, order];
  const rest = waiting.slice(0, -1);
  switch (order.action) {
    case 'STEP':
    case 'STEP_BACK':
    case 'STEP_OVER':
    case 'STEP_OUT':
      return [...rest, { action: order.action, steps: (last.steps ?? 1) + (order.steps ?? 1) }];
    default:
      return [...rest, order];
  }
}

/** How many steps there are, as far as is known. */
export interface Extent {
  steps: number;
  /** Whether the run ends there. */
  final: boolean;
}

/** What is known of the length after a state was seen. */
export function extentAfter(known: Extent, { status, position }: Pick<State, 'status' | 'position'>): Extent {
  if (known.final && position <= known.steps) return known;
  if (isEnded(status)) return { steps: position, final: true };
  return { steps: Math.max(known.steps, position), final: false };
}

/** A breakpoint as the API takes it. */
export function inputOf({ node, function: name, watch, condition }: Breakpoint): BreakpointInput {
  return {
    ...(node && { node }),
    ...(name && { function: name }),
    ...(watch && { watch }),
    ...(condition && { condition }),
  };
}

/** The breakpoints with another one at a node, or without those that stand there. */
export function toggled(breakpoints: readonly Breakpoint[], node: string): BreakpointInput[] {
  const rest = breakpoints.filter((breakpoint) => breakpoint.node !== node);
  return [...rest.map(inputOf), ...(rest.length === breakpoints.length ? [{ node }] : [])];
}

/** A value without its type, where that stands beside it, and not longer than a label. */
export function short(value: unknown, most = 40): string {
  const text = textOf(value).replace(/^(?:[if]\d+|bool):/, '');
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** The marks of a function, by the ids of its boxes; without values while those are not known. */
export function marksOf(
  graph: Graph,
  breakpoints: readonly Breakpoint[],
  at: string | null,
  locals: State['locals'] | null,
): ReadonlyMap<string, Mark> {
  const marks = new Map<string, { here: boolean; values: string[]; stop: Mark['stop'] }>();
  const mark = (id: string) => {
    const known = marks.get(id) ?? { here: false, values: [], stop: null };
    marks.set(id, known);
    return known;
  };
  if (at !== null && graph.nodes.has(at)) mark(at).here = true;
  for (const { node, port, value } of locals ?? []) {
    const id = node.startsWith('n') ? node : node.startsWith('g') ? paramsId(node) : paramsId(null);
    // A constant says what it is anyway.
    if (!node.startsWith('v') && graph.nodes.get(node)?.kind !== 'const')
      mark(id).values[port] = short(value, id === node ? 24 : 14);
  }
  for (const { node, condition } of breakpoints)
    if (node && graph.nodes.has(node)) {
      const known = mark(node);
      known.stop = condition === null && known.stop !== 'condition' ? 'always' : (known.stop ?? 'condition');
    }
  return marks;
}

/** Where it stands, for somebody who does not see it. */
export function spokenState(state: State, place: string | null): string {
  const steps = state.position.toLocaleString('en');
  const { word } = STATUS[state.status];
  if (isEnded(state.status)) return `${word} after ${counted(state.position, 'step')}`;
  return `step ${steps}, ${word}${place ? `, before ${place}` : ''}`;
}

/** A step that a reader typed: digits, with separators. */
export function stepTyped(text: string): number | null {
  const digits = text.replaceAll(/[\s,._]/g, '');
  const step = Number(digits);
  return digits !== '' && Number.isSafeInteger(step) && step >= 0 ? step : null;
}

/** What is wrong with a step that a reader typed: it is none, or none of the run; null where that is fine. */
export function stepSlip(text: string, { steps, final }: Extent): string | null {
  const step = stepTyped(text);
  if (step !== null && (!final || step <= steps)) return null;
  const last = steps.toLocaleString('en');
  return final
    ? `A number from 0 to ${last} is wanted.`
    : `A number from 0 on is wanted; the run was seen up to ${last}.`;
}

/** How fast it plays, in steps a second. */
export const SPEEDS = [1, 2, 5, 10, 50, 250, 1_000, 10_000, 100_000] as const;

/** How often a second the picture moves at most: as often as the server can be asked in comfort. */
const TICKS = 10;

/** What a speed means: how many steps at once, and how long to wait, in milliseconds. */
export function pace(speed: number): { steps: number; wait: number } {
  const ticks = Math.min(TICKS, speed);
  return { steps: Math.max(1, Math.round(speed / ticks)), wait: 1000 / ticks };
}
