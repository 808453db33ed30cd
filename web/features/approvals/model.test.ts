import { expect, test } from 'vitest';

import { commandOf } from './keys';
import {
  unsentOf,
  answerOf,
  answerWords,
  findingsOf,
  isAboutChange,
  mannerOf,
  merged,
  moved,
  movedOn,
  nextOpen,
  refreshed,
  stateWhen,
  stepsBefore,
  type Question,
} from './model';

function question(id: string, minute: number, more: Partial<Question> = {}): Question {
  return {
    id,
    runId: `run of ${id}`,
    type: 'need_confirm',
    question: 'Commit?',
    choices: null,
    status: 'OPEN',
    askedAt: new Date(minute * 60_000).toISOString(),
    expiresAt: null,
    base: null,
    head: null,
    decision: null,
    run: {} as Question['run'],
    ...more,
  };
}
const ids = (questions: readonly Question[]) => questions.map(({ id, status }) => (status === 'OPEN' ? id : `${id}!`));

test('answers have the form that their question asks for', () => {
  const confirm = { type: 'need_confirm', choices: null };
  expect(answerOf(confirm, { way: 'approve' })).toEqual({ answer: { confirm: true } });
  expect(answerOf(confirm, { way: 'reject', feedback: ' ' })).toEqual({ answer: { confirm: false } });
  expect(answerOf(confirm, { way: 'reject', feedback: ' round up ' })).toEqual({
    answer: { confirm: false, feedback: 'round up' },
  });
  const clarify = { type: 'need_clarification', choices: null };
  expect(answerOf(clarify, { way: 'text', text: ' the second ' })).toEqual({ answer: { text: 'the second' } });
  const choose = { type: 'need_choice', choices: ['retry', 'stop'] };
  expect(answerOf(choose, { way: 'choose', choice: 'stop', text: ' ' })).toEqual({ answer: { choice: 'stop' } });
  expect(answerOf(choose, { way: 'choose', choice: 'retry', text: ' by night ' })).toEqual({
    answer: { choice: 'retry', text: 'by night' },
  });
  const free = { type: 'escalation', choices: null };
  expect(answerOf(free, { way: 'text', text: 'stop' })).toEqual({ answer: { choice: 'stop' } });
});

test('what is no answer is told before it is sent', () => {
  const slip = (...given: Parameters<typeof answerOf>) => 'slip' in answerOf(...given);
  expect(slip({ type: 'need_clarification', choices: null }, { way: 'text', text: '  ' })).toBe(true);
  expect(slip({ type: 'need_clarification', choices: null }, { way: 'approve' })).toBe(true);
  expect(slip({ type: 'need_choice', choices: ['a'] }, { way: 'choose', choice: 'b', text: '' })).toBe(true);
});

test('a choice without choices is written, an unknown type is not answered here', () => {
  expect(mannerOf({ type: 'escalation', choices: ['retry', 7] })).toBe('choice');
  expect(mannerOf({ type: 'escalation', choices: null })).toBe('text');
  expect(mannerOf({ type: 'need_money', choices: null })).toBe('unknown');
});

test('stored answers are told in words', () => {
  expect(answerWords({ confirm: true }).verb).toBe('approved');
  expect(answerWords({ confirm: false, feedback: 'round up' })).toMatchObject({ verb: 'rejected', said: 'round up' });
  expect(answerWords({ choice: 'stop' })).toMatchObject({ verb: 'chose', said: 'stop' });
  expect(answerWords({ choice: 'retry', text: 'by night' }).said).toBe('retry: by night');
  expect(answerWords({ other: 1 }).said).toBe('{"other":1}');
});

test('a program that has moved on since the proposal is told', () => {
  const at = (number: number) => ({ number, branch: 'main' });
  expect(movedOn({ base: at(12), head: at(15) })).toEqual({ from: 12, to: 15 });
  expect(movedOn({ base: at(12), head: at(12) })).toBe(null);
  expect(movedOn({ base: null, head: null })).toBe(null);
});

test('what somebody answers stays in its place, what is asked comes in by its time', () => {
  const loaded = [question('a', 1), question('c', 3)];
  const now = [question('a', 1, { status: 'ANSWERED' }), question('b', 2), question('old', 0, { status: 'EXPIRED' })];
  const fresh = refreshed(new Map(), loaded, now, 'OPEN');
  expect(ids(merged(loaded, fresh, 'OPEN'))).toEqual(['a!', 'b', 'c']);
  expect(refreshed(fresh, loaded, [], 'OPEN')).toBe(fresh);
});

test('the keyboard goes from question to question and stops at the ends', () => {
  const listed = [question('a', 1), question('b', 2), question('c', 3)];
  expect([moved(listed, 'a', 1), moved(listed, 'c', 1), moved(listed, 'a', -1), moved(listed, null, 1)]).toEqual([
    'b',
    'c',
    'a',
    'a',
  ]);
  expect(moved([], null, 1)).toBe(null);
});

test('after an answer the next open question follows, from the start after the last', () => {
  const listed = [question('a', 1), question('b', 2, { status: 'ANSWERED' }), question('c', 3)];
  expect([nextOpen(listed, 'a'), nextOpen(listed, 'c'), nextOpen([question('a', 1)], 'a')]).toEqual(['c', 'a', null]);
});

test('what led to a question is what had begun when it was asked', () => {
  const steps = [0, 1, 2, 5].map((minute) => ({ startedAt: new Date(minute * 60_000).toISOString() }));
  expect(stepsBefore(steps, question('a', 2), 2)).toEqual(steps.slice(1, 3));
});

test('keys are commands, except where something is typed', () => {
  const press = (key: string, target: EventTarget | null = null, ctrlKey = false) =>
    commandOf({ key, ctrlKey, metaKey: false, altKey: false, target });
  expect([press('j'), press('a'), press('3'), press('x'), press('a', null, true)]).toEqual([
    'next',
    'approve',
    { choose: 2 },
    null,
    null,
  ]);
  expect(press('a', document.createElement('textarea'))).toBe(null);
  const graph = document.createElement('div');
  graph.setAttribute('role', 'application');
  expect([press('ArrowDown', graph), press('j', graph)]).toEqual([null, 'next']);
});

test('what gates have found is read as far as it is there', () => {
  expect(findingsOf(null)).toBe(null);
  expect(findingsOf({ evidence: {}, violations: [] })).toBe(null);
  const conflict = {
    gate: 'merge',
    rule: 'BOTH_CHANGED',
    severity: 'error',
    message: 'both changed it',
    location: 'f3',
  };
  expect(findingsOf({ violations: [conflict, 7, {}] })).toEqual({
    violations: [conflict, { gate: 'gate', rule: '', severity: 'error', message: 'it says nothing', location: null }],
    fresh: null,
    cases: null,
  });
  expect(findingsOf({ evidence: { newFindings: [], cases: { green: 2, of: 3, more: false } } })).toEqual({
    violations: [],
    fresh: [],
    cases: { green: 2, of: 3, more: false },
  });
});

test('the evidence of a question that is over is that of its time', () => {
  const steps = [{ update: { violations: [1], evidence: 'a' } }, { update: null }, { update: { evidence: 'b' } }];
  const now = { evidence: 'c' };
  expect(stateWhen({ status: 'OPEN' }, now, steps)).toBe(now);
  expect(stateWhen({ status: 'ANSWERED' }, now, steps)).toEqual({ violations: [1], evidence: 'b' });
  // What could not be read is put together as well.
  expect(stateWhen({ status: 'OPEN' }, null, steps)).toEqual({ violations: [1], evidence: 'b' });
});

test('words that somebody was faster than are told with who it was', () => {
  const carol = { actor: { kind: 'HUMAN' as const, name: 'carol' } } as Parameters<typeof unsentOf>[1];
  expect(unsentOf({ text: ' rename it first ', reason: 'too short' }, carol)).toEqual({
    title: 'carol decided first; your words were not sent:',
    text: 'rename it first\ntoo short',
  });
  expect(unsentOf({ text: 'no', reason: '' }, null)?.title).toBe('The question is closed; your words were not sent:');
  expect([unsentOf(undefined, carol), unsentOf({ text: ' ', reason: '' }, carol)]).toEqual([null, null]);
});

test('a place is kept for a difference where there is sure to be one', () => {
  const base = { number: 3, branch: 'main' };
  expect(isAboutChange(question('a', 0, { base }))).toBe(true);
  expect(isAboutChange(question('b', 0))).toBe(false);
  expect(isAboutChange(question('c', 0, { base, type: 'escalation' }))).toBe(false);
});
