import { expect, test } from 'vitest';

import { flawedWords, grouped, shownOf, type Listed, type Module } from './model';

const module = (ref: string, path: string, totalCount = 0) =>
  ({ ref, path, doc: null, functions: { totalCount } }) as Module;
const zoo = module('m1', 'zoo', 1);
const app = module('m2', 'app', 12);
const listed = (ref: string, of: Module, findings = 0, name = ref) =>
  ({ ref, name, module: of, diagnostics: { totalCount: findings } }) as Listed;

test('functions stand under their modules, by path', () => {
  const functions = [listed('f1', zoo), listed('f2', app, 2), listed('f3', app)];
  const told = (further: Module[]) =>
    grouped(functions, further).map(({ module, functions, flawed }) => [
      module.path,
      functions.map(({ ref }) => ref),
      flawed,
    ]);
  // A module is told whether it is among those that are loaded or not.
  expect(told([])).toEqual([
    ['app', ['f2', 'f3'], 1],
    ['zoo', ['f1'], 0],
  ]);
  expect(told([app, module('m3', 'app::none')]).map(([path]) => path)).toEqual(['app', 'app::none', 'zoo']);
});

test('a module tells how many of its functions are shown', () => {
  const [first, second] = grouped([listed('f1', zoo), listed('f2', app)], []).map(shownOf);
  expect([first, second]).toEqual([
    { shown: 1, of: 12 },
    { shown: 1, of: 1 },
  ]);
});

test('what is counted of a part is said to be of a part', () => {
  const groups = grouped([listed('f1', zoo, 1), listed('f2', app, 1)], []);
  const words = (incomplete?: number) => groups.map((group) => flawedWords(group, incomplete));
  expect(words()).toEqual(['1 of those shown with diagnostics', '1 with diagnostics']);
  // What the server counts is of all of them.
  expect([words(7), words(0)]).toEqual([
    ['7 incomplete', '1 with diagnostics'],
    [null, '1 with diagnostics'],
  ]);
});
