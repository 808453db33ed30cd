import { expect, test } from 'vitest';

import { partsOf } from './message';

test('names stand in backticks', () => {
  const told = (message: string) => partsOf(message).map(({ text, code }) => (code ? `<${text}>` : text));
  expect(told('input `b` of `sub` is empty')).toEqual(['input ', '<b>', ' of ', '<sub>', ' is empty']);
  expect(told('`f` is gone')).toEqual(['<f>', ' is gone']);
  expect(told('no name')).toEqual(['no name']);
  expect(told('a `b` and ` more')).toEqual(['a ', '<b>', ' and ` more']);
  expect(told('')).toEqual([]);
});
