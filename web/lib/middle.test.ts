import { expect, test } from 'vitest';

import { cutMiddle, halvesOf } from './middle';

test('a long name keeps its end', () => {
  expect(halvesOf('storage::find')).toBe(null);
  expect(halvesOf('_ZN4core3fmt9Formatter3pad17h0123456789abcdefE')).toEqual([
    '_ZN4core3fmt9Formatter3pad17h01234',
    '56789abcdefE',
  ]);
});

test('a name is cut in the middle', () => {
  expect([
    cutMiddle('abcdefgh', 8),
    cutMiddle('abcdefgh', 7),
    cutMiddle('abcdefgh', 4),
    cutMiddle('abcdefgh', 0),
  ]).toEqual(['abcdefgh', 'abc…fgh', 'ab…h', 'a…']);
});
