import { expect, test } from 'vitest';

import { grouped, shownOf, type Listed, type Module } from './model';

const module = (ref: string, path: string, totalCount = 0) =>
  ({ ref, path, doc: null, functions: { totalCount }, findings: { functions: 0, incomplete: 0 } }) as Module;
const zoo = module('m1', 'zoo', 1);
const app = module('m2', 'app', 12);
const none = module('m3', 'app::none');
const listed = (ref: string, { ref: of, path }: Module) =>
  ({ ref, name: ref, module: { ref: of, path }, diagnostics: { totalCount: 0 } }) as Listed;
const functions = [listed('f1', zoo), listed('f2', app), listed('f3', app)];

test('functions stand under their modules, by path', () => {
  const told = (known: Module[], whole = false) =>
    grouped(functions, known, whole).map(({ module, functions }) => [module.path, functions.map(({ ref }) => ref)]);
  const both = [
    ['app', ['f2', 'f3']],
    ['zoo', ['f1']],
  ];
  // A module is told whether it is among those that are loaded or not.
  expect(told([])).toEqual(both);
  expect(told([app, none])).toEqual(both);
  expect(told([app, none], true).map(([path]) => path)).toEqual(['app', 'app::none', 'zoo']);
});

test('a module tells how many of its functions are shown, as soon as that is known', () => {
  const groups = grouped(functions, [app, none], false);
  expect(groups.map(({ functions, facts }) => shownOf(functions.length, facts))).toEqual([
    { shown: 2, of: 12 },
    { shown: 1, of: 1 },
  ]);
  expect(groups.map(({ facts }) => facts?.ref)).toEqual(['m2', undefined]);
});
