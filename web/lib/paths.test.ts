import { expect, test } from 'vitest';

import { byPath } from './paths';

test('numbers in paths count as numbers', () => {
  const paths = ['m::step_10', 'm10::a', 'm::step_9', 'm::Step_1', 'm2::a'].map((path) => ({ path }));
  expect(paths.sort(byPath).map(({ path }) => path)).toEqual([
    'm::Step_1',
    'm::step_9',
    'm::step_10',
    'm2::a',
    'm10::a',
  ]);
});
