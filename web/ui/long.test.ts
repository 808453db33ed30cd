import { expect, test } from 'vitest';

import { headOf } from './long';

test('a long text begins with its first line, or what fits of it', () => {
  expect([headOf('short'), headOf('short\n'), headOf('')]).toEqual([null, null, null]);
  expect(headOf('first\nsecond')).toBe('first');
  expect(headOf('word '.repeat(60))).toBe('word '.repeat(40).trimEnd());
  expect(headOf('x'.repeat(300))).toBe('x'.repeat(200));
});
