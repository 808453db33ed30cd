import { expect, test } from 'vitest';

import type { RunEventKind } from '../../generated/graphql';
import { afterEvent, atWork, eventOf, isNews, type Working } from './live';

const after = (...events: [kind: RunEventKind, node: string | null, text?: string][]) =>
  events.reduce<readonly Working[]>(
    (now, [kind, node, text]) => afterEvent(now, { kind, node, text: text ?? null, at: '2026-01-01T00:00:00Z' }),
    [],
  );

test('what a model writes stands at its node until that is done', () => {
  const writing = after(
    ['NODE_STARTED', 'a'],
    ['NODE_STARTED', 'b'],
    ['MODEL_DELTA', 'a', 'two '],
    ['MODEL_DELTA', 'a', 'words'],
  );
  expect(writing.map(({ node, text }) => [node, text])).toEqual([
    ['a', 'two words'],
    ['b', ''],
  ]);
  const done = afterEvent(writing, { kind: 'NODE_FINISHED', node: 'a', text: null, at: '' });
  expect(done.map(({ node }) => node)).toEqual(['b']);
});

test('a page that is opened in the middle shows what comes', () => {
  expect(after(['MODEL_DELTA', 'a', 'rest']).map(({ node, text }) => [node, text])).toEqual([['a', 'rest']]);
  // Nobody says whose it is.
  expect(after(['MODEL_DELTA', null, 'rest'])).toEqual([]);
});

test('a new try begins with an empty page, and says why', () => {
  const [a] = after(
    ['NODE_STARTED', 'a'],
    ['MODEL_DELTA', 'a', 'wrong'],
    ['RETRIED', 'a', 'no answer'],
    ['TOOL_CALLED', 'a', 'verify'],
  );
  expect([a?.text, a?.lines]).toEqual(['', ['tried again: no answer', 'called verify']]);
});

test('what a model takes back is not shown any more', () => {
  const at = '2026-01-01T00:00:00Z';
  const told = [
    { at, kind: 'MODEL_DELTA', node: 'a', text: 'wrong' },
    { at, kind: 'MODEL_DELTA', node: 'a', text: null, data: { restarted: true } },
    { at, kind: 'MODEL_DELTA', node: 'a', text: 'right' },
  ] as const;
  const [a] = told.map(eventOf).reduce<readonly Working[]>(afterEvent, []);
  expect(a?.text).toBe('right');
});

test('what was called says what it was', () => {
  const called = (text: string, data: unknown) => eventOf({ at: '', kind: 'TOOL_CALLED', text, data }).called;
  expect(called('add_node', { kind: 'tool', ok: true, notes: { 'lmlang.tool.said': '1 created' } })).toBe(
    'called add_node: 1 created',
  );
  expect(called('add_node', { kind: 'tool', ok: false, code: 'BUSY' })).toBe('called add_node, which failed: BUSY');
  expect(called('chat m', { kind: 'model', ok: true })).toBe('asked chat m');
  expect(called('chat rules', { notes: { 'gen_ai.provider.name': 'rules' } })).toBe('decided by rules, no model');
  expect(eventOf({ at: '', kind: 'FINISHED', text: 'x' }).called).toBe(undefined);
});

test('nothing is at work in a run that asks, has ended, or of which events are missing', () => {
  for (const kind of ['INTERRUPTED', 'FINISHED', 'GAP'] as const)
    expect(after(['NODE_STARTED', 'a'], ['NODE_STARTED', 'b'], [kind, null])).toEqual([]);
  expect(after(['NODE_STARTED', 'a'], ['NODE_STARTED', 'b'], ['INTERRUPTED', 'a']).map(({ node }) => node)).toEqual([
    'b',
  ]);
});

test('deltas are no news, a gap is', () => {
  expect([isNews('MODEL_DELTA'), isNews('NODE_FINISHED'), isNews('GAP'), isNews('LISTENING')]).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test('a node that nobody heard begin is at work since the last step', () => {
  const run = { status: 'RUNNING' as const, node: 'b', createdAt: '2026-01-01T00:00:00Z' };
  const done = { node: 'a', endedAt: '2026-01-01T00:00:05Z' };
  const told = (...given: Parameters<typeof atWork>) => atWork(...given).map(({ node, since }) => [node, since]);
  expect(told([], run, [done])).toEqual([['b', done.endedAt]]);
  expect(told([], run, [])).toEqual([['b', run.createdAt]]);
  // Its row says it.
  expect(told([], run, [done, { node: 'b', endedAt: null }])).toEqual([]);
  expect(told([], { ...run, status: 'WAITING' }, [done])).toEqual([]);
});
