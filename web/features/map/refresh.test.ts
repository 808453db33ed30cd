import { expect, test } from 'vitest';

import { mapOf } from './model';
import { changedIn, modulesOf, renewed, type CallingData, type MapDiff, type Source } from './refresh';
import { program } from './testing';

const [modules, functions, calls] = program({
  modules: { m1: 'app', m2: 'zoo', m3: 'far' },
  functions: { f1: 'm1', f2: 'm1', f3: 'm2', f4: 'm3' },
  calls: ['f1 f3', 'f2 f1', 'f4 f3'],
});
const source: Source = { modules, functions, calls };
const map = mapOf(modules, functions, calls);

function diff(changed: Record<string, string | null>, edits: [kind: string, ref: string | null][], more = 0): MapDiff {
  const nodes = Object.entries(changed).map(([ref, module]) => ({
    ref,
    after: module === null ? null : { module: { ref: module } },
  }));
  const list = edits.map(([kind, ref]) => ({ kind, ref }));
  return {
    functions: { totalCount: nodes.length + more, nodes },
    edits: { totalCount: list.length, nodes: list },
  } as MapDiff;
}

test('the module of what was edited is asked again, and no other', () => {
  expect(modulesOf(map, diff({ f1: 'm1' }, [['setInput', 'n5']]))).toEqual(['m1']);
  expect(modulesOf(map, diff({}, []))).toEqual([]);
});

test('what moved or came is asked in both places; what has another head where it is called', () => {
  expect(modulesOf(map, diff({ f1: 'm2' }, [['setHead', 'f1']]))?.sort()).toEqual(['m1', 'm2']);
  expect(modulesOf(map, diff({ f9: 'm3' }, [['addFunction', 'f9']]))).toEqual(['m3']);
  expect(modulesOf(map, diff({ f3: null }, [['removeFunction', 'f3']]))?.sort()).toEqual(['m1', 'm2', 'm3']);
});

test('what is used everywhere, and what is too much, has all asked again', () => {
  for (const kind of ['setType', 'removeStorage', 'setModule'])
    expect(modulesOf(map, diff({ f1: 'm1' }, [[kind, null]]))).toBe(null);
  expect(modulesOf(map, diff({ f1: 'm1' }, [], 1))).toBe(null);
  expect(changedIn(diff({ f1: 'm1' }, [], 1))).toBe(null);
  expect(changedIn(diff({ f1: 'm1', f3: null }, []))).toEqual(['f1', 'f3']);
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, at < 400 ? 'm1' : 'm2']));
  const large = mapOf(...program({ modules: { m1: 'app', m2: 'zoo' }, functions: many }));
  expect(modulesOf(large, diff({ f1: 'm1' }, []))).toBe(null);
  expect(modulesOf(large, diff({ f450: 'm2' }, []))).toEqual(['m2']);
});

const calling = (ref: string, module: string, callees: string[], total = callees.length) =>
  ({
    ...program({ modules: { [module]: module }, functions: { [ref]: module } })[1][0],
    callees: { totalCount: total, nodes: callees.map((callee) => ({ ref: callee })) },
  }) as CallingData;

test('a part is put in the place of what was there', () => {
  const now = renewed(source, modules, new Map([['m1', [calling('f2', 'm1', ['f3']), calling('f9', 'm1', [])]]]));
  const told = now && mapOf(now.modules, now.functions, now.calls);
  expect([...(told?.functions.keys() ?? [])].sort()).toEqual(['f2', 'f3', 'f4', 'f9']);
  expect(told?.calls.map(({ from, to }) => `${from} ${to}`).sort()).toEqual(['f2 f3', 'f4 f3']);
  // The same as if all had been asked again.
  expect(renewed(source, modules, new Map())).toEqual(source);
  expect(renewed(source, modules, new Map([['m1', [calling('f2', 'm1', ['f3'], 101)]]]))).toBe(null);
});
