// A run as a line of steps: what each took, what it cost, and the time in which nothing happened.
import type { InterruptStatus, StepFactsFragment } from '../../generated/graphql';
import { sumOf, type Span, type Sum } from './spans';

/** A step of a run: one attempt at a node. */
export type Step = StepFactsFragment;

/** A question, as far as it explains why nothing happened. */
export interface Asked {
  askedAt: string;
  decision: { at: string } | null;
}

/** The steps that ask something which is open, by index: a question is named by the entry of the journal that asked it. */
export function asksOf(questions: readonly { id: string; status: InterruptStatus }[]): ReadonlySet<number> {
  const open = questions.filter(({ status }) => status === 'OPEN');
  return new Set(open.map(({ id }) => Number(id.slice(id.lastIndexOf('/') + 1))));
}

/** A row of the timeline. */
export type Row =
  | {
      type: 'step';
      key: string;
      step: Step;
      spans: readonly { span: Span; depth: number }[];
      /** What its calls of models come to. */
      sum: Sum | null;
      /** Whether a rewind has taken it back. */
      superseded: boolean;
    }
  | { type: 'gap'; key: string; from: number; to: number; open: boolean; what: 'answer' | 'idle' };

/** What a step is told apart by. */
export function stepKey({ index, branch, attempt }: Step): string {
  return `${index} ${branch} ${attempt}`;
}

/** How a step stands, in a word. */
export function stepState({ error, endedAt }: Step, waiting: boolean): 'failed' | 'done' | 'waiting' | 'running' {
  if (error !== null && error !== undefined) return 'failed';
  if (endedAt !== null) return 'done';
  return waiting ? 'waiting' : 'running';
}

/** What a fork of a step does next, in words: what the step led to. */
export function forkWords({ goto }: Pick<Step, 'goto'>): string {
  if (goto === null) return 'goes on from there';
  if (goto === 'END') return 'has nothing left to do: the run was at its end';
  const nodes = goto.split(/,\s*/).map((node) => `\`${node}\``);
  return `goes on with ${nodes.join(' and ')}`;
}

function numberOf(attributes: unknown, name: string): number | null {
  const value = (attributes as Record<string, unknown> | null)?.[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** The spans of each step, with their depth under its own: by the span of its node and attempt that began with it. */
export function spansByStep(
  steps: readonly Step[],
  spans: readonly Span[],
): Map<string, { span: Span; depth: number }[]> {
  const children = new Map<string, Span[]>();
  for (const span of spans)
    if (span.parentId !== null) children.set(span.parentId, [...(children.get(span.parentId) ?? []), span]);
  const free = new Map<string, Step[]>();
  for (const step of steps) {
    const name = `${step.node} ${step.attempt}`;
    free.set(name, [...(free.get(name) ?? []), step]);
  }
  const found = new Map<string, { span: Span; depth: number }[]>();
  const time = (at: string) => Date.parse(at);
  for (const span of spans) {
    if (span.kind !== 'node') continue;
    const candidates = free.get(`${span.name} ${span.attempt}`);
    if (!candidates || candidates.length === 0) continue;
    const far = (step: Step) => Math.abs(time(step.startedAt) - time(span.startedAt));
    const step = candidates.reduce((best, each) => (far(each) < far(best) ? each : best));
    candidates.splice(candidates.indexOf(step), 1);
    const list: { span: Span; depth: number }[] = [];
    const visit = (span: Span, depth: number) => {
      list.push({ span, depth });
      for (const child of children.get(span.id) ?? []) visit(child, depth + 1);
    };
    visit(span, 0);
    found.set(stepKey(step), list);
  }
  return found;
}

/** The steps that rewinds have taken back: those that came behind the step that was gone back to, and before that was done. */
export function supersededOf(steps: readonly Step[], spans: readonly Span[]): Set<string> {
  const gone = new Set<string>();
  for (const { kind, name, startedAt, attributes } of spans) {
    const to = numberOf(attributes, 'lmlang.to');
    if (kind !== 'decision' || name !== 'rewound' || to === null) continue;
    for (const step of steps)
      if (step.index > to && Date.parse(step.startedAt) < Date.parse(startedAt)) gone.add(stepKey(step));
  }
  return gone;
}

/** A time without a step that is longer than this, in milliseconds, is folded. */
const IDLE = 60_000;

/** Whether a question was open for most of a time. */
function isWait(from: number, to: number, asked: readonly Asked[], now: number): boolean {
  return asked.some(({ askedAt, decision }) => {
    const begun = Math.max(from, Date.parse(askedAt));
    const ended = Math.min(to, decision ? Date.parse(decision.at) : now);
    return ended - begun > (to - from) / 2;
  });
}

/** The times in which a step itself waited for an answer: those of questions that were asked and answered within it. */
function waitsOf({ startedAt, endedAt }: Step, asked: readonly Asked[], now: number): [from: number, to: number][] {
  const begun = Date.parse(startedAt);
  const ended = endedAt === null ? now : Date.parse(endedAt);
  return asked
    .map(({ askedAt, decision }): [number, number] => [Date.parse(askedAt), decision ? Date.parse(decision.at) : now])
    .filter(([from, to]) => begun <= from && to <= ended && from < to);
}

/** How long of a step was waiting for answers, in milliseconds. */
export function waitedIn(step: Step, asked: readonly Asked[], now: number): number {
  return waitsOf(step, asked, now).reduce((sum, [from, to]) => sum + to - from, 0);
}

/** What a timeline is of. */
export interface Told {
  steps: readonly Step[];
  spans: readonly Span[];
  asked: readonly Asked[];
  /** Whether the run waits: for how long, since the last step, is told too. */
  waiting: boolean;
  /** Whether there are steps behind those that are loaded. */
  cut: boolean;
  now: number;
}

/** The rows of a timeline, with idle times folded; with `failedOnly` the failed steps alone. */
export function rowsOf({ steps, spans, asked, waiting, cut, now }: Told, failedOnly: boolean): Row[] {
  const under = spansByStep(steps, spans);
  const gone = supersededOf(steps, spans);
  const rows: Row[] = [];
  let end: number | null = null;
  const gap = (to: number, open: boolean) => {
    if (end === null || to - end < IDLE || failedOnly) return;
    rows.push({
      type: 'gap',
      key: `gap ${end}`,
      from: end,
      to,
      open,
      what: isWait(end, to, asked, now) ? 'answer' : 'idle',
    });
  };
  for (const step of steps) {
    gap(Date.parse(step.startedAt), false);
    const ended = step.endedAt === null ? now : Date.parse(step.endedAt);
    end = Math.max(end ?? ended, ended);
    if (failedOnly && (step.error === null || step.error === undefined)) continue;
    const own = under.get(stepKey(step)) ?? [];
    rows.push({
      type: 'step',
      key: stepKey(step),
      step,
      spans: own,
      sum: sumOf(own.map(({ span }) => span)),
      superseded: gone.has(stepKey(step)),
    });
  }
  if (waiting && !cut) gap(now, true);
  return rows;
}

/** A place on a line of time on which folded times take no room, from 0 to 1. */
export interface Scale {
  at(moment: number): number;
}

/** The times of a step in which it did not wait for an answer. */
function atWork(step: Step, asked: readonly Asked[], now: number): [from: number, to: number][] {
  const ended = step.endedAt === null ? now : Date.parse(step.endedAt);
  let free: [number, number][] = [[Date.parse(step.startedAt), ended]];
  for (const [from, to] of waitsOf(step, asked, now)) {
    if (to - from < IDLE) continue;
    free = free.flatMap(([a, b]): [number, number][] =>
      to <= a || from >= b
        ? [[a, b]]
        : [
            [a, Math.max(a, from)],
            [Math.min(b, to), b],
          ],
    );
  }
  return free;
}

/** The line of time of a run: its steps, one behind the other, without what is folded between them and within. */
export function scaleOf(steps: readonly Step[], asked: readonly Asked[], now: number): Scale {
  const spans = steps.flatMap((step) => atWork(step, asked, now)).sort(([a], [b]) => a - b);
  const pieces: { from: number; to: number; before: number }[] = [];
  let length = 0;
  for (const [from, to] of spans) {
    const last = pieces.at(-1);
    if (last && from - last.to < IDLE) {
      length += Math.max(0, to - last.to);
      last.to = Math.max(last.to, to);
    } else {
      pieces.push({ from, to, before: length });
      length += to - from;
    }
  }
  return {
    at: (moment) => {
      const piece = pieces.findLast(({ from }) => from <= moment) ?? pieces[0];
      if (!piece || length === 0) return 0;
      const within = Math.min(piece.to, Math.max(piece.from, moment)) - piece.from;
      return Math.min(1, (piece.before + within) / length);
    },
  };
}
