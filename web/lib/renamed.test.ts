import { expect, test } from 'vitest';

import { renamedTo } from './renamed';

test('an address goes with a path that has become another one, and stays where it has none', () => {
  expect(renamedTo('m::f', 'm::g')).toBe('m::g');
  expect(renamedTo('m::f', 'm::f')).toBe(null);
  expect(renamedTo('f12', 'm::g')).toBe(null);
  expect(renamedTo('m::f', undefined)).toBe(null);
});
