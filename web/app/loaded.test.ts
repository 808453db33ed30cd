import { expect, test } from 'vitest';

import { isNotLoaded } from './loaded';

test('what browsers say of a file that did not come is told from other failures', () => {
  for (const message of [
    'Unable to preload CSS for /assets/runs.css',
    'Failed to fetch dynamically imported module: http://localhost/assets/runs.js',
    'error loading dynamically imported module: http://localhost/assets/runs.js',
    'Importing a module script failed.',
  ])
    expect(isNotLoaded(new TypeError(message))).toBe(true);
  expect(isNotLoaded(new TypeError("Cannot read properties of undefined (reading 'nodes')"))).toBe(false);
  expect(isNotLoaded('Failed to fetch')).toBe(false);
});
