import type { DecisionFactsFragment, InterruptStatus, QuestionFactsFragment } from '../../generated/graphql';
import type { Tone } from '../../ui';

/** A question of a run. */
export type Question = QuestionFactsFragment;
/** What was decided. */
export type Decision = DecisionFactsFragment;

/** How a question is answered. */
export type Manner = 'confirm' | 'text' | 'choice' | 'unknown';

/** How a question of a type is answered. */
export function mannerOf({ type, choices }: Pick<Question, 'type' | 'choices'>): Manner {
  switch (type) {
    case 'need_confirm':
      return 'confirm';
    case 'need_clarification':
      return 'text';
    case 'need_choice':
    case 'escalation':
      return choicesOf(choices).length > 0 ? 'choice' : 'text';
    default:
      return 'unknown';
  }
}

/** What a type asks for, in a word. */
export function typeWord(type: string): string {
  const words: Record<string, string> = {
    need_confirm: 'approval',
    need_clarification: 'clarification',
    need_choice: 'choice',
    escalation: 'escalation',
  };
  return words[type] ?? type;
}

/** The choices of a question that has some. */
export function choicesOf(choices: unknown): string[] {
  return Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
}

/** What the reader is about to answer, before it is sent. */
export type Answering =
  | { way: 'approve' }
  | { way: 'reject'; feedback: string }
  | { way: 'choose'; choice: string; text: string }
  | { way: 'text'; text: string };

/** The answer as the schema takes it, or what it lacks. */
export function answerOf(
  question: Pick<Question, 'type' | 'choices'>,
  answering: Answering,
): { answer: Record<string, unknown> } | { slip: string } {
  const manner = mannerOf(question);
  switch (answering.way) {
    case 'approve':
      return manner === 'confirm'
        ? { answer: { confirm: true } }
        : { slip: 'this question is not answered by yes or no' };
    case 'reject': {
      if (manner !== 'confirm') return { slip: 'this question is not answered by yes or no' };
      const feedback = answering.feedback.trim();
      return { answer: { confirm: false, ...(feedback && { feedback }) } };
    }
    case 'choose': {
      if (!choicesOf(question.choices).includes(answering.choice)) return { slip: 'this is none of the choices' };
      const text = answering.text.trim();
      return { answer: { choice: answering.choice, ...(text && { text }) } };
    }
    case 'text': {
      const text = answering.text.trim();
      if (text === '') return { slip: 'write an answer' };
      // A choice that names none is written.
      return { answer: question.type === 'need_clarification' ? { text } : { choice: text } };
    }
  }
}

/** What the reader writes: to the flow, and for the log. */
export interface Words {
  text: string;
  reason: string;
}

/** Whether nothing is written. */
export function isBlank({ text, reason }: Words): boolean {
  return text.trim() === '' && reason.trim() === '';
}

/** What was written for a question that takes no answer any more: as a text, and who was first; null where nothing was. */
export function unsentOf(
  words: Words | undefined,
  decided: Pick<Decision, 'actor'> | null,
): { title: string; text: string } | null {
  if (!words || isBlank(words)) return null;
  return {
    title: `${decided ? `${decided.actor.name} decided first` : 'The question is closed'}; your words were not sent:`,
    text: [words.text.trim(), words.reason.trim()].filter(Boolean).join('\n'),
  };
}

/** What a stored answer says, in words. */
export function answerWords(answer: unknown): { verb: string; tone: Tone; said: string | null } {
  const { confirm, feedback, text, choice } = (answer ?? {}) as Record<string, unknown>;
  const words = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  if (confirm === true) return { verb: 'approved', tone: 'ok', said: null };
  if (confirm === false) return { verb: 'rejected', tone: 'error', said: words(feedback) };
  if (typeof choice === 'string') {
    const said = words(text);
    return { verb: 'chose', tone: 'info', said: said === null ? choice : `${choice}: ${said}` };
  }
  if (typeof text === 'string') return { verb: 'answered', tone: 'info', said: text };
  return { verb: 'answered', tone: 'info', said: answer === null ? null : JSON.stringify(answer) };
}

/** The revisions between which the program has moved since a proposal was made; null where it has not. */
export function movedOn({ base, head }: Pick<Question, 'base' | 'head'>): { from: number; to: number } | null {
  return base && head && base.number !== head.number ? { from: base.number, to: head.number } : null;
}

/** Whether a question is sure to be about a change of a program, before that has been loaded: it was made on a revision. */
export function isAboutChange({ type, base }: Pick<Question, 'type' | 'base'>): boolean {
  return type === 'need_confirm' && base !== null;
}

/** What a status of a question is called. */
export const STATUSES: Record<InterruptStatus, { word: string; tone: Tone }> = {
  OPEN: { word: 'open', tone: 'warn' },
  ANSWERED: { word: 'answered', tone: 'ok' },
  EXPIRED: { word: 'expired', tone: 'error' },
  CANCELLED: { word: 'cancelled', tone: 'plain' },
};

/**
 * A list of questions with what has become of them since it was loaded.
 *
 * A question that somebody answers stays where it is, and says so: it must not vanish under the reader's hand, nor take
 * the next one's place. New ones of the status come in by when they were asked.
 */
export function merged(
  loaded: readonly Question[],
  fresh: ReadonlyMap<string, Question>,
  status: InterruptStatus,
): Question[] {
  const all = new Map(loaded.map((question) => [question.id, question]));
  const added = [...fresh.values()].filter(({ id }) => !all.has(id));
  for (const [id, question] of fresh) all.set(id, question);
  if (added.length === 0) return [...all.values()];
  const order = status === 'OPEN' ? 1 : -1;
  const at = ({ askedAt }: Question) => Date.parse(askedAt);
  return [...all.values()].sort((a, b) => order * (at(a) - at(b)));
}

/** What is new of the questions of a run: those that are listed, and those that belong into the list. */
export function refreshed(
  fresh: ReadonlyMap<string, Question>,
  listed: readonly Question[],
  now: readonly Question[],
  status: InterruptStatus,
): ReadonlyMap<string, Question> {
  const known = new Set(listed.map(({ id }) => id));
  const news = now.filter((question) => known.has(question.id) || question.status === status);
  return news.length === 0 ? fresh : new Map([...fresh, ...news.map((question) => [question.id, question] as const)]);
}

/** The last of the steps that had begun when a question was asked. */
export function stepsBefore<Step extends { startedAt: string }>(
  steps: readonly Step[],
  { askedAt }: Pick<Question, 'askedAt'>,
  last: number,
): Step[] {
  return steps.filter(({ startedAt }) => Date.parse(startedAt) <= Date.parse(askedAt)).slice(-last);
}

/** What a gate holds against a proposal. */
export interface Violation {
  gate: string;
  rule: string;
  severity: string;
  message: string;
  location: string | null;
}

/** What the gates of a flow have found. */
export interface Findings {
  violations: Violation[];
  /** Findings that neither side has alone; null where no gate has looked for some. */
  fresh: { code: string; message: string; location: string | null }[] | null;
  /** How many test cases hold; null where no gate has tried some. */
  cases: { green: number; of: number; more: boolean } | null;
}

type Channels = Record<string, unknown>;

const channels = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Channels) : null;
const listed = (value: unknown) =>
  Array.isArray(value) ? (value.map(channels).filter((each) => each !== null) as Channels[]) : null;
const word = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);

/** What a state says that the gates have found; null where it says nothing of gates. */
export function findingsOf(state: unknown): Findings | null {
  const { evidence, violations } = channels(state) ?? {};
  const { newFindings, cases } = channels(evidence) ?? {};
  const { green, of, more } = channels(cases) ?? {};
  const found: Findings = {
    violations: (listed(violations) ?? []).map(({ gate, rule, severity, message, location }) => ({
      gate: word(gate) ?? 'gate',
      rule: word(rule) ?? '',
      severity: word(severity) ?? 'error',
      message: word(message) ?? word(rule) ?? 'it says nothing',
      location: word(location),
    })),
    fresh:
      listed(newFindings)?.map(({ code, message, location }) => ({
        code: word(code) ?? '',
        message: word(message) ?? '',
        location: word(location),
      })) ?? null,
    cases: typeof green === 'number' && typeof of === 'number' ? { green, of, more: more === true } : null,
  };
  return found.violations.length > 0 || found.fresh || found.cases ? found : null;
}

/** What a run carried when it asked: what it carries now, or, of a question that is over, what its steps had set until then. */
export function stateWhen(
  { status }: Pick<Question, 'status'>,
  now: unknown,
  before: readonly { update: unknown }[],
): Channels {
  if (status === 'OPEN' && channels(now)) return channels(now) ?? {};
  return Object.assign({}, ...before.map(({ update }) => channels(update) ?? {})) as Channels;
}

/** The question that stands so many places after another one; the first or last at the ends. */
export function moved(listed: readonly Question[], from: string | null, by: number): string | null {
  const at = listed.findIndex(({ id }) => id === from);
  const to = at < 0 ? (by > 0 ? 0 : listed.length - 1) : Math.min(listed.length - 1, Math.max(0, at + by));
  return listed[to]?.id ?? null;
}

/** The next question that is open, after another one and then from the start; null where none is. */
export function nextOpen(listed: readonly Question[], from: string): string | null {
  const at = listed.findIndex(({ id }) => id === from);
  const order = [...listed.slice(at + 1), ...listed.slice(0, Math.max(0, at))];
  return order.find(({ status }) => status === 'OPEN')?.id ?? null;
}
