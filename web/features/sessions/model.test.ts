import { expect, test } from 'vitest';

import {
  answerOf,
  askedOf,
  foundOf,
  isAboutProgram,
  mannerOf,
  merged,
  nameOf,
  newestOf,
  resultOf,
  sayingWords,
  talkingOf,
  titleOf,
  turnOf,
  turnsOf,
  wordsFieldOf,
  type Flow,
  type Question,
  type Session,
  type Turn,
} from './model';

const flow = (name: string, properties: object, required: string[]): Flow => ({
  name,
  version: '1',
  doc: '',
  inputSchema: { type: 'object', properties, required },
});
const words = { type: 'string', description: 'What is to be done.' };

function question(id: string, minute: number, more: Partial<Question> = {}): Question {
  return {
    id,
    runId: 'R-1',
    type: 'need_confirm',
    question: 'Delete it?',
    choices: null,
    status: 'OPEN',
    askedAt: new Date(minute * 60_000).toISOString(),
    decision: null,
    ...more,
  };
}

function turn(id: string, more: Partial<Turn> = {}): Turn {
  return {
    id,
    status: 'COMPLETED',
    node: null,
    createdAt: '2026-01-01T00:00:00Z',
    endedAt: null,
    error: null,
    input: { task: `task of ${id}` },
    plan: [],
    progress: [],
    startedBy: { name: 'ann', kind: 'HUMAN' },
    parent: null,
    interrupts: [],
    ...more,
  };
}

test('flows that words alone begin hold conversations, `act` is offered first', () => {
  const flows = [
    flow('draft', { text: words, sinks: {} }, ['text']),
    flow('review', { program: words, text: words }, ['program']),
    flow('act', { task: words, confirm: {} }, ['task']),
    flow('other', { number: {} }, []),
  ];
  expect(talkingOf(flows).map(({ name }) => name)).toEqual(['act', 'draft']);
  expect(wordsFieldOf(flows[2]?.inputSchema)).toEqual({ name: 'task', doc: 'What is to be done.' });
  expect(wordsFieldOf(null)).toBe(null);
});

test('a title is what was said, of a long text the beginning, whole signs of it', () => {
  const words = 'é😀'.repeat(60);
  expect(titleOf(`  ${words}\n`)).toBe(words);
  expect(titleOf(`x${'😀'.repeat(9_000)}`)).toBe(`x${'😀'.repeat(7_999)}`);
});

test('what is said answers what is asked, and nothing that is typed is lost', () => {
  const said = (asked: Partial<Question> | null, saying: Parameters<typeof turnOf>[1]) =>
    turnOf(asked && question('q', 0, asked), saying);
  expect(said(null, { words: ' Show A:a ' })).toEqual({ turn: { text: 'Show A:a' } });
  expect(said({}, { words: '', confirm: true })).toEqual({ turn: { interruptId: 'q', confirm: true } });
  expect(said({}, { words: 'the other', confirm: false })).toEqual({
    turn: { interruptId: 'q', confirm: false, feedback: 'the other' },
  });
  // Words alone are a no.
  expect(said({}, { words: 'the other' })).toEqual({
    turn: { interruptId: 'q', confirm: false, feedback: 'the other' },
  });
  expect(said({ type: 'need_clarification' }, { words: 'T-1' })).toEqual({ turn: { interruptId: 'q', text: 'T-1' } });
  const escalation = { type: 'escalation', choices: ['try again', 'stop'] };
  expect(said(escalation, { words: 'later', choice: 'try again' })).toEqual({
    turn: { interruptId: 'q', choice: 'try again', text: 'later' },
  });
  expect(said(escalation, { words: 'stop' })).toEqual({ turn: { interruptId: 'q', choice: 'stop' } });
});

test('what is no answer is told before it is sent', () => {
  const slip = (asked: Partial<Question> | null, saying: Parameters<typeof turnOf>[1]) =>
    'slip' in turnOf(asked && question('q', 0, asked), saying);
  expect(slip(null, { words: ' ' })).toBe(true);
  expect(slip({}, { words: '' })).toBe(true);
  expect(slip({ type: 'need_clarification' }, { words: '' })).toBe(true);
  expect(slip({ type: 'need_choice', choices: ['a'] }, { words: 'b' })).toBe(true);
});

test('a question is answered by its type; without choices, in words', () => {
  expect([null, question('q', 0), question('q', 0, { type: 'need_clarification' })].map(mannerOf)).toEqual([
    'words',
    'confirm',
    'text',
  ]);
  expect(mannerOf({ type: 'escalation', choices: ['stop', 7] })).toBe('choice');
  expect(mannerOf({ type: 'escalation', choices: null })).toBe('text');
});

test('answers are told as they would be said, before and after the server has them', () => {
  expect(answerOf({ confirm: true })).toBe('Yes');
  expect(answerOf({ confirm: false, feedback: 'the other' })).toBe('No: the other');
  expect(answerOf({ choice: 'stop', text: 'for today' })).toBe('stop: for today');
  expect(answerOf({ text: 'T-1' })).toBe('T-1');
  expect(sayingWords({ words: 'the other', confirm: false })).toBe('No: the other');
  expect(sayingWords({ words: 'stop', choice: 'stop' })).toBe('stop');
  expect(sayingWords({ words: ' T-1 ' })).toBe('T-1');
});

test('turns are the runs that no other one waits for, and the oldest open question is asked', () => {
  const runs = [
    turn('c', { status: 'WAITING', interrupts: [question('3', 3), question('2', 2)] }),
    turn('b', { parent: { id: 'a' } }),
    turn('a', { interrupts: [question('1', 1, { status: 'ANSWERED' })] }),
  ];
  expect(turnsOf(runs).map(({ id }) => id)).toEqual(['a', 'c']);
  expect(askedOf(turnsOf(runs))?.id).toBe('2');
  expect(askedOf([turn('a')])).toBe(null);
});

test('what runs ask that another one waits for is asked in its turn, in the order of asking', () => {
  const runs = [
    turn('c', { parent: { id: 'b' }, interrupts: [question('2', 2)] }),
    turn('b', { parent: { id: 'a' }, interrupts: [] }),
    turn('a', { status: 'WAITING', interrupts: [question('1', 1, { status: 'ANSWERED' }), question('3', 3)] }),
    // Its turn is on an earlier page.
    turn('z', { parent: { id: 'y' }, interrupts: [question('0', 0)] }),
  ];
  const turns = turnsOf(runs);
  expect(turns.map(({ id }) => id)).toEqual(['a']);
  expect(turns[0]?.interrupts?.map(({ id }) => id)).toEqual(['1', '2', '3']);
  expect(askedOf(turns)?.id).toBe('2');
});

test('a flow with a program is about one', () => {
  expect(isAboutProgram(flow('edit', { text: words, program: { type: 'string' } }, ['text']).inputSchema)).toBe(true);
  expect(isAboutProgram(flow('act', { task: words }, ['task']).inputSchema)).toBe(false);
  expect(isAboutProgram(null)).toBe(false);
});

test('a table is shown as one, and its words are not told twice', () => {
  const found = {
    columns: ['t.key', 't.n'],
    rows: [
      ['T-1', 3],
      ['T-2', null],
    ],
    truncated: false,
  };
  const result = resultOf({ answer: { text: 't.key, t.n\nT-1, 3\nT-2, null', found, counts: {} }, outcome: 'done' });
  expect(result).toMatchObject({ text: null, outcome: null, counts: [], found: { kind: 'table', cut: false } });
  expect(result.found).toMatchObject({
    columns: ['t.key', 't.n'],
    rows: [
      ['T-1', 3],
      ['T-2', null],
    ],
  });
  // A model says something of its own.
  expect(resultOf({ answer: { text: 'Two tickets.', found } }).text).toBe('Two tickets.');
});

test('entities and relations are a graph', () => {
  const found = foundOf({
    nodes: [{ entity: 'T:1', props: { a: 1 } }],
    edges: [['T:1', 'ON', 'M:1']],
    truncated: true,
  });
  expect(found).toEqual({
    kind: 'graph',
    nodes: [{ entity: 'T:1', props: { a: 1 } }],
    edges: [['T:1', 'ON', 'M:1']],
    cut: true,
  });
  const text = 'T:1 {"a":1}\nT:1 ON M:1\nand more\nEntities: 1 unchanged.';
  const said = {
    text,
    found: { nodes: [{ entity: 'T:1', props: { a: 1 } }], edges: [['T:1', 'ON', 'M:1']], truncated: true },
  };
  expect(resultOf({ answer: said }).text).toBe('Entities: 1 unchanged.');
  expect(foundOf({ other: 1 })).toBe(null);
});

test('a result has its counts, its outcome and what failed on the way', () => {
  const result = resultOf({
    answer: { text: 'Entities: 3 created.', counts: { created: 3, updated: 0, deleted: 1 }, found: null },
    outcome: 'stopped',
    failures: [{ code: 'NOT_FOUND', message: 'no such', class: 'identical', attempt: 2 }],
  });
  expect(result.counts).toEqual([
    { kind: 'created', count: 3 },
    { kind: 'deleted', count: 1 },
  ]);
  expect(result.outcome).toBe('stopped');
  expect(result.failures).toEqual([{ code: 'NOT_FOUND', message: 'no such', attempt: 2, failureClass: 'identical' }]);
});

test('a draft shows its text, its streams and what was handed out', () => {
  expect(resultOf({ outcome: 'listed', streams: [{ name: 'clicks' }], answer: null }).found).toMatchObject({
    columns: ['stream'],
    rows: [['clicks']],
  });
  const described = { outcome: 'described', stream_schema: { columns: [{ name: 'at', data_type: 'int' }] } };
  expect(resultOf(described).found).toMatchObject({ columns: ['column', 'type'], rows: [['at', 'int']] });
  const confirmed = {
    outcome: 'confirmed',
    draft: { sql: 'SELECT 1' },
    pipeline: { id: 'REPLACE_ME' },
    violations: [],
  };
  expect(resultOf(confirmed, ['handed the pipeline out'])).toMatchObject({
    sql: 'SELECT 1',
    pipeline: { id: 'REPLACE_ME' },
    outcome: 'confirmed',
  });
  // A flow that says nothing has at least done something.
  expect(resultOf({}, ['looked', 'left']).text).toBe('left');
  expect(resultOf(null)).toMatchObject({ text: null, found: null, pipeline: null, byRules: false });
  expect(resultOf({ provider: 'rules' }).byRules).toBe(true);
});

test('what is told aloud is the newest question or answer', () => {
  expect(newestOf([turn('a', { interrupts: [question('1', 1)] })], new Map())).toBe('Delete it?');
  expect(newestOf([turn('a')], new Map())).toBe(null);
  expect(newestOf([turn('a')], new Map([['a', { answer: { text: 'Done.' } }]]))).toBe('Done.');
  const table = { answer: { text: 'k\n1', found: { columns: ['k'], rows: [[1]] } } };
  expect(newestOf([turn('a')], new Map([['a', table]]))).toBe('Found 1 row.');
  expect(newestOf([], new Map())).toBe(null);
});

test('the newest sessions come before those that are loaded, and replace what has changed', () => {
  const session = (id: string, summary: string) => ({ id, summary }) as Session;
  const all = merged([session('b', 'old'), session('a', 'old')], [session('c', 'new'), session('b', 'new')]);
  expect(all.map(({ id, summary }) => `${id} ${summary}`)).toEqual(['c new', 'b new', 'a old']);
});

test('a session without a title is called by what its only run is about', () => {
  const session = (totalCount: number, title: string | null = null) =>
    ({ id: 'T-1', title, runs: { totalCount, nodes: [{ input: { message: 'A fee' } }] } }) as unknown as Session;
  expect([session(1), session(2), session(1, 'Fees')].map(nameOf)).toEqual(['A fee', 'conversation T-1', 'Fees']);
});
