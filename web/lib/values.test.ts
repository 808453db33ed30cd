import { expect, test } from 'vitest';

import { givenOf } from './values';

test('a value that was told is given as it is, a string as its text', () => {
  expect(givenOf('string', '"a\\n\\u{e9}\\""')).toBe('a\né"');
  expect([givenOf('i64', 'i64:-5'), givenOf('P', 'P{s: "a"}'), givenOf(undefined, '"a"')]).toEqual([
    'i64:-5',
    'P{s: "a"}',
    '"a"',
  ]);
});
