import { expect, test } from 'vitest';

import { aboutOf, wordsOf } from './words';

const session = { title: 'List tickets' };

test('what was said to begin a run is read from its input', () => {
  expect([{ task: 'a' }, { text: 'b' }, { program: 'c' }, null].map(wordsOf)).toEqual(['a', 'b', null, null]);
});

test('a turn is about what was said in it, not about what began the conversation', () => {
  expect(aboutOf({ input: { task: 'DeleteNode Ticket:T-2\nand what hangs on it' }, session })).toBe(
    'DeleteNode Ticket:T-2',
  );
  expect(aboutOf({ input: { program: 'bank', text: 'pub func f ()', message: 'A fee' }, session })).toBe('A fee');
});

test('a run without words is about what its conversation is about', () => {
  expect(aboutOf({ input: { program: 'bank', branch: 'b', message: ' ' }, session })).toBe('List tickets');
  expect([aboutOf({ input: null, session: { title: null } }), wordsOf(['task'])]).toEqual([null, null]);
});
