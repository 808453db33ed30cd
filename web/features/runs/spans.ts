// What spans say for people: of models what they were asked and what that took, of tools what they were given and said.
import type { SpanFactsFragment } from '../../generated/graphql';
import { counted, lasting } from '../../ui';

/** A span of the trace of a run. */
export type Span = SpanFactsFragment;

type Attributes = Record<string, unknown>;

/** What is noted of a span. */
export function notesOf({ attributes }: Pick<Span, 'attributes'>): Attributes {
  return typeof attributes === 'object' && attributes !== null && !Array.isArray(attributes)
    ? (attributes as Attributes)
    : {};
}

const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const word = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
/** A text, or a number as one. */
const told = (value: unknown) => word(value) ?? (number(value) === null ? null : String(value));

/** The provider of what was decided without a model. */
const RULES = 'rules';
const PER_DOLLAR = 1_000_000_000;

/** What a call of a model took. */
export interface Call {
  /** Whether rules decided, and no model was asked. */
  rules: boolean;
  input: number | null;
  output: number | null;
  /** In US dollars; null: nobody knows. */
  cost: number | null;
  /** In milliseconds; null while it goes on. */
  took: number | null;
}

/** What the span of a model says of its call; null of another span. */
export function callOf(span: Span): Call | null {
  if (span.kind !== 'model') return null;
  const notes = notesOf(span);
  const cost = number(notes['lmlang.cost.nano_usd']);
  const lasted = span.endedAt === null ? null : Date.parse(span.endedAt) - Date.parse(span.startedAt);
  return {
    rules: notes['gen_ai.provider.name'] === RULES,
    input: number(notes['gen_ai.usage.input_tokens']),
    output: number(notes['gen_ai.usage.output_tokens']),
    cost: cost === null ? null : cost / PER_DOLLAR,
    took: number(notes['lmlang.latency.ms']) ?? lasted,
  };
}

/** What the calls of models of a run, or of a step, come to. */
export interface Sum {
  calls: number;
  /** Decisions that were made without a model; they are no calls. */
  rules: number;
  input: number;
  output: number;
  /** Calls of which nobody knows the tokens. */
  uncounted: number;
  /** In US dollars, of the calls whose cost is known. */
  cost: number;
  /** Calls whose cost nobody knows. */
  unpriced: number;
  took: number;
}

/** Adds up what spans say of calls; null where none is of a model. */
export function sumOf(spans: readonly Span[]): Sum | null {
  const sum: Sum = { calls: 0, rules: 0, input: 0, output: 0, uncounted: 0, cost: 0, unpriced: 0, took: 0 };
  for (const span of spans) {
    const call = callOf(span);
    if (!call) continue;
    if (call.rules) {
      sum.rules += 1;
      continue;
    }
    sum.calls += 1;
    sum.input += call.input ?? 0;
    sum.output += call.output ?? 0;
    if (call.input === null && call.output === null) sum.uncounted += 1;
    sum.cost += call.cost ?? 0;
    if (call.cost === null) sum.unpriced += 1;
    sum.took += call.took ?? 0;
  }
  return sum.calls + sum.rules > 0 ? sum : null;
}

/** A price as it is written: `$0.0042`. */
export function price(dollars: number): string {
  if (dollars === 0) return '$0';
  return dollars < 0.01 ? `$${dollars.toPrecision(2)}` : `$${dollars.toFixed(2)}`;
}

/** Tokens that went in and came out. */
function tokens(input: number | null, output: number | null): string {
  const side = (count: number | null) => (count === null ? '?' : count.toLocaleString('en'));
  return `${side(input)} → ${side(output)} tokens`;
}

/** What a sum says: calls, tokens, cost, time. What nobody knows is unknown, and not nothing. */
export function sumWords({ calls, rules, input, output, uncounted, cost, unpriced, took }: Sum): string[] {
  const byRules = `${counted(rules, 'decision')} by rules, no model`;
  if (calls === 0) return [byRules];
  const unknown = (count: number) => `${counted(count, 'call')} unknown`;
  return [
    counted(calls, 'call'),
    uncounted === calls
      ? 'tokens unknown'
      : `${tokens(input, output)}${uncounted > 0 ? ` and ${unknown(uncounted)}` : ''}`,
    unpriced === calls ? 'cost unknown' : `${price(cost)}${unpriced > 0 ? ` and ${unknown(unpriced)}` : ''}`,
    lasting(took),
    ...(rules > 0 ? [byRules] : []),
  ];
}

/** A fact of a span: its name and what it is. */
export type Fact = readonly [name: string, value: string];

function present(facts: readonly (readonly [string, string | null])[]): Fact[] {
  return facts.filter((fact): fact is Fact => fact[1] !== null);
}

/** Entities that a tool has created, updated, deleted and left as they were: `3 created`. */
export function countWords(counts: unknown): string | null {
  if (!Array.isArray(counts)) return null;
  const kinds = ['created', 'updated', 'deleted', 'unchanged'];
  const words = kinds.flatMap((kind, at) => {
    const count = number(counts[at]);
    return count === null || count === 0 ? [] : [`${count.toLocaleString('en')} ${kind}`];
  });
  return words.length > 0 ? words.join(', ') : null;
}

/** What is to be known of a span, by its kind; what it was given as JSON stands apart. */
export function factsOf(span: Span): Fact[] {
  const notes = notesOf(span);
  const failure = present([
    ['class of failure', word(notes['lmlang.failure.class'])],
    ['error', word(notes['error.type'])],
    ['message', word(notes['error.message'])],
  ]);
  const call = callOf(span);
  if (call?.rules)
    return [
      ...present([['decided', 'by rules, no model'] as const, ['role', word(notes['lmlang.model.role'])]]),
      ...failure,
    ];
  if (call) {
    const first = number(notes['lmlang.latency.first_ms']);
    const cached = number(notes['gen_ai.usage.cache_read.input_tokens']);
    const source = word(notes['lmlang.usage.source']);
    const calls = number(notes['lmlang.model.calls']);
    const finish = notes['gen_ai.response.finish_reasons'];
    const over = span.endedAt !== null;
    const counts = call.input === null && call.output === null ? null : tokens(call.input, call.output);
    const more = [cached ? `${cached.toLocaleString('en')} of them cached` : null, source].filter(Boolean).join(', ');
    return [
      ...present([
        ['provider', word(notes['gen_ai.provider.name'])],
        ['model', word(notes['gen_ai.response.model']) ?? word(notes['gen_ai.request.model'])],
        ['role', word(notes['lmlang.model.role'])],
        ['tokens', counts === null ? (over ? 'unknown' : null) : more ? `${counts} (${more})` : counts],
        [
          'latency',
          call.took === null
            ? null
            : `${lasting(call.took)}${first === null ? '' : `, first words after ${lasting(first)}`}`,
        ],
        ['cost', call.cost === null ? (over ? 'unknown' : null) : price(call.cost)],
        ['temperature', told(notes['gen_ai.request.temperature'])],
        ['prompt version', told(notes['lmlang.prompt.version'])],
        ['requests', calls !== null && calls > 1 ? String(calls) : null],
        ['ended by', Array.isArray(finish) ? word(finish.join(', ')) : null],
      ]),
      ...failure,
    ];
  }
  switch (span.kind) {
    case 'tool':
      return [
        ...present([
          ['tool', word(notes['gen_ai.tool.name'])],
          ['said', word(notes['lmlang.tool.said'])],
          ['entities', countWords(notes['lmlang.tool.counts'])],
        ]),
        ...failure,
      ];
    case 'node':
      return [
        ...present([
          ['attempt', told(notes['lmlang.attempt'])],
          ['prompt version', told(notes['lmlang.prompt.version'])],
          ['intent', word(notes['lmlang.intent'])],
          ['violations', told(notes['lmlang.violations'])],
        ]),
        ...failure,
      ];
    default:
      return failure;
  }
}

/** Attributes that tell spans of other kinds apart, the first that is there. */
const TELLING = ['gen_ai.request.model', 'gen_ai.tool.name', 'url.full', 'http.route', 'error.type'];

/** What tells a span from others, in a line. */
export function tellingOf(span: Span): string | null {
  const notes = notesOf(span);
  const call = callOf(span);
  if (call?.rules) return 'decided by rules, no model';
  if (call) {
    const model = word(notes['gen_ai.response.model']) ?? word(notes['gen_ai.request.model']);
    const counts = call.input === null && call.output === null ? null : tokens(call.input, call.output);
    const parts = [model, counts, call.cost === null ? null : price(call.cost)].filter((part) => part !== null);
    return parts.length > 0 ? parts.join(' · ') : null;
  }
  const said = word(notes['lmlang.tool.said']);
  if (said !== null) return said;
  return TELLING.map((name) => word(notes[name])).find((value) => value !== null) ?? null;
}
