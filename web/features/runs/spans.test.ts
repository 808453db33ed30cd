import { expect, test } from 'vitest';

import { countWords, factsOf, price, sumOf, sumWords, tellingOf, type Span } from './spans';

function span(kind: string, attributes: Record<string, unknown>, took: number | null = 1_500): Span {
  const endedAt = took === null ? null : new Date(took).toISOString();
  return {
    id: `${kind} ${JSON.stringify(attributes)}`,
    parentId: null,
    kind,
    name: kind,
    startedAt: new Date(0).toISOString(),
    endedAt,
    ok: true,
    attempt: 1,
    attributes,
  };
}

const model = (more: Record<string, unknown> = {}) =>
  span('model', {
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'small',
    'gen_ai.request.temperature': 0,
    'gen_ai.usage.input_tokens': 1_200,
    'gen_ai.usage.output_tokens': 340,
    'lmlang.cost.nano_usd': 4_200_000,
    'lmlang.prompt.version': 'act-1',
    ...more,
  });
const rules = span('model', { 'gen_ai.provider.name': 'rules', 'lmlang.model.role': 'planner' });
const words = (...spans: Span[]) => {
  const sum = sumOf(spans);
  return sum && sumWords(sum).join(' · ');
};

test('the calls of a run are summed: tokens, cost, time', () => {
  expect(words(model(), model(), span('tool', {}))).toBe('2 calls · 2,400 → 680 tokens · $0.0084 · 3.0 s');
  expect(words(span('tool', {}))).toBe(null);
});

test('what nobody knows is unknown, and not nothing', () => {
  const bare = span('model', { 'gen_ai.provider.name': 'own' });
  expect(words(bare)).toBe('1 call · tokens unknown · cost unknown · 1.5 s');
  expect(words(model(), bare)).toBe(
    '2 calls · 1,200 → 340 tokens and 1 call unknown · $0.0042 and 1 call unknown · 3.0 s',
  );
  expect(words(model({ 'lmlang.cost.nano_usd': 0 }))).toContain('$0 ·');
  expect(Object.fromEntries(factsOf(bare))).toMatchObject({ tokens: 'unknown', cost: 'unknown' });
  // It goes on: there is nothing to know yet.
  expect(Object.keys(Object.fromEntries(factsOf(span('model', { 'gen_ai.request.model': 'm' }, null))))).toEqual([
    'model',
  ]);
});

test('what rules decided is no call', () => {
  expect(words(rules, rules)).toBe('2 decisions by rules, no model');
  expect(words(model(), rules)).toContain(' · 1 decision by rules, no model');
  expect(tellingOf(rules)).toBe('decided by rules, no model');
  expect(factsOf(rules)).toEqual([
    ['decided', 'by rules, no model'],
    ['role', 'planner'],
  ]);
});

test('a model says what it was asked with and what it took', () => {
  expect(
    Object.fromEntries(factsOf(model({ 'lmlang.usage.source': 'estimated', 'lmlang.latency.first_ms': 200 }))),
  ).toEqual({
    provider: 'openai',
    model: 'small',
    tokens: '1,200 → 340 tokens (estimated)',
    latency: '1.5 s, first words after 200 ms',
    cost: '$0.0042',
    temperature: '0',
    'prompt version': 'act-1',
  });
  expect(tellingOf(model())).toBe('small · 1,200 → 340 tokens · $0.0042');
});

test('tools say what they said, nodes which attempt it was and how it failed', () => {
  const tool = span('tool', { 'lmlang.tool.said': '`T:1`: 1 created', 'lmlang.tool.counts': [1, 0, 0, 2] });
  expect(factsOf(tool)).toEqual([
    ['said', '`T:1`: 1 created'],
    ['entities', '1 created, 2 unchanged'],
  ]);
  expect(countWords([0, 0, 0, 0])).toBe(null);
  const node = span('node', { 'lmlang.attempt': 2, 'lmlang.failure.class': 'identical', 'error.type': 'NOT_FOUND' });
  expect(factsOf(node)).toEqual([
    ['attempt', '2'],
    ['class of failure', 'identical'],
    ['error', 'NOT_FOUND'],
  ]);
});

test('prices show what is small', () => {
  expect([price(0), price(0.00123), price(0.5), price(12)]).toEqual(['$0', '$0.0012', '$0.50', '$12.00']);
});
