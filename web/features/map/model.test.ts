import { expect, test } from 'vitest';

import { found, litBy, mapOf, openAtFirst, rowsOf } from './model';
import { program } from './testing';

const small = mapOf(
  ...program({
    modules: { m1: 'zoo', m2: 'app', m3: 'empty' },
    functions: { f1: 'm1', f2: 'm2', f3: 'm2', f4: 'm2' },
    calls: ['f2 f1', 'f3 f2', 'f3 f3', 'f4 gone'],
    findings: { f2: 1, f4: 2 },
    incomplete: ['f4'],
  }),
);

test('modules stand by path, with their functions, and without those that have none', () => {
  expect(small.modules.map(({ path, functions }) => [path, functions.map(({ ref }) => ref)])).toEqual([
    ['app', ['f2', 'f3', 'f4']],
    ['zoo', ['f1']],
  ]);
});

test('calls are told from both ends; of itself and of what is gone none is', () => {
  expect(small.calls).toEqual([
    { from: 'f2', to: 'f1' },
    { from: 'f3', to: 'f2' },
  ]);
  expect(small.functions.get('f2')).toMatchObject({ callers: ['f3'], callees: ['f1'] });
  expect(small.functions.get('f3')).toMatchObject({ callers: [], callees: ['f2'] });
});

test('what is missing weighs more than what is found', () => {
  const states = [...small.functions.values()].map(({ ref, state }) => [ref, state]);
  expect(Object.fromEntries(states)).toEqual({ f1: 'fine', f2: 'findings', f3: 'fine', f4: 'incomplete' });
  expect(small.modules.map(({ path, state, flaws }) => [path, state, flaws])).toEqual([
    ['app', 'incomplete', { functions: 2, incomplete: 1 }],
    ['zoo', 'fine', { functions: 0, incomplete: 0 }],
  ]);
});

test('the table has the functions of open modules, or those that are looked for', () => {
  const told = (open: string[], text = '') =>
    rowsOf(small, new Set(open), found(small, text)).map((row) =>
      row.kind === 'module' ? row.module.path : row.listed.ref,
    );
  expect(told([])).toEqual(['app', 'zoo']);
  expect(told(['m1'])).toEqual(['app', 'zoo', 'f1']);
  expect(told([], ' F3 ')).toEqual(['app', 'f3']);
  expect(told(['m1', 'm2'], 'zoo::')).toEqual(['zoo', 'f1']);
  expect(told(['m1'], 'nothing')).toEqual([]);
});

test('a closed module is lit by what is looked for in it', () => {
  expect(litBy(small, new Set(['f3']))).toEqual(new Set(['f3', 'm2']));
});

test('a small program begins open, a large one closed', () => {
  expect(openAtFirst(small)).toEqual(new Set(['m1', 'm2']));
  const functions = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, at < 5 ? 'm1' : 'm2']));
  const large = mapOf(...program({ modules: { m1: 'a', m2: 'b' }, functions }));
  expect(openAtFirst(large)).toEqual(new Set());
});
