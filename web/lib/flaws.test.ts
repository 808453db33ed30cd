import { expect, test } from 'vitest';

import { flawedWords } from './flaws';

test('a module says what weighs more, and both where there are both', () => {
  const words = (functions: number, incomplete: number) => flawedWords({ functions, incomplete });
  expect(words(0, 0)).toBe(null);
  expect(words(1_200, 0)).toBe('1,200 with diagnostics');
  expect(words(2, 2)).toBe('2 incomplete');
  expect(words(3, 2)).toBe('3 with diagnostics, 2 incomplete');
});
