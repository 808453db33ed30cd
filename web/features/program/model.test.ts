import { expect, test } from 'vitest';

import { grouped, type Listed, type Module } from './model';

const module = (ref: string, path: string) => ({ ref, path }) as Module;
const listed = (ref: string, of: string, findings = 0, name = ref) =>
  ({ ref, name, module: { ref: of }, diagnostics: { totalCount: findings } }) as Listed;

test('functions stand under their modules, by path', () => {
  const modules = [module('m1', 'zoo'), module('m2', 'app'), module('m3', 'app::none')];
  const functions = [listed('f1', 'm1'), listed('f2', 'm2', 2), listed('f3', 'm2')];
  const told = (all: boolean) =>
    grouped(modules, functions, all).map(({ module, functions, flawed }) => [
      module.path,
      functions.map(({ ref }) => ref),
      flawed,
    ]);
  expect(told(true)).toEqual([
    ['app', ['f2', 'f3'], 1],
    ['app::none', [], 0],
    ['zoo', ['f1'], 0],
  ]);
  expect(told(false).map(([path]) => path)).toEqual(['app', 'zoo']);
});
