import { expect, test } from 'vitest';

import { verdictOf } from './verdict';

const report = (complete: boolean, errors: string[] = []) => ({
  valid: errors.length === 0,
  complete,
  errors: errors.map((code) => ({ code, message: 'wrong' })),
  warnings: [],
});

test('the worst is told', () => {
  const word = (...given: Parameters<typeof verdictOf>) => {
    const { tone, count, word } = verdictOf(...given);
    return [tone, count, word];
  };
  expect(word({ verify: report(true), stats: { holes: 0 } })).toEqual(['ok', null, 'complete']);
  expect(word({ verify: report(false), stats: { holes: 3 } })).toEqual(['warn', 3, 'hole']);
  expect(word({ verify: report(false), stats: { holes: 0 } })).toEqual(['warn', null, 'incomplete']);
  expect(word({ verify: report(false, ['TYPE_MISMATCH']), stats: null })).toEqual(['error', 1, 'error']);
});

test('findings of what was touched stand in the title', () => {
  expect(verdictOf({ verify: report(false, ['TYPE_MISMATCH']), stats: null }).title).toBe('TYPE_MISMATCH: wrong');
  expect(verdictOf({ verify: report(true), stats: null }).title).toMatch(/no finding/);
});
