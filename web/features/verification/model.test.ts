import { expect, test } from 'vitest';

import type { Finding } from '../preview';
import {
  argsOf,
  brokenOf,
  caseTold,
  casesByFunction,
  codesOf,
  countsOf,
  doneOf,
  endingOf,
  further,
  grouped,
  IDLE,
  saying,
  valuesText,
  type Attempt,
  type Case,
} from './model';

const finding = (code: string, fn: string | null) => ({ code, message: code, details: { function: fn } }) as Finding;
const FINDINGS = [finding('B', 'f1'), finding('A', 'f2'), finding('B', 'f2'), finding('C', null)];
const PATHS = new Map([
  ['f1', 'm::zoo'],
  ['f2', 'm::App'],
]);
const told = (code: string | null, fn: string | null) =>
  grouped(FINDINGS, PATHS, { code, fn }).map(({ path, findings }) => `${path} ${findings.map((f) => f.code).join('')}`);

test('findings stand under their functions, by path, as far as they are wanted', () => {
  expect(told(null, null)).toEqual(['the program C', 'm::App AB', 'm::zoo B']);
  expect(told('B', null)).toEqual(['m::App B', 'm::zoo B']);
  expect(told(null, 'app')).toEqual(['m::App AB']);
  expect(told(null, 'f1')).toEqual(['m::zoo B']);
});

test('codes are counted, the most frequent first', () => {
  expect(codesOf(FINDINGS)).toEqual([
    ['B', 2],
    ['A', 1],
    ['C', 1],
  ]);
});

test('a search goes on function by function', () => {
  const attempt = (fn: string, ending: Attempt['ending']) => ({ function: fn, ending, message: null }) as Attempt;
  const search = [attempt('f1', null), attempt('f2', 'FOUND'), attempt('f1', 'TRIED')].reduce(further, IDLE);
  expect([doneOf(search), search.attempts.size]).toEqual([2, 2]);
  expect(endingOf(attempt('f2', 'FOUND'), true)).toEqual({ word: 'broken', tone: 'error' });
  expect(endingOf(attempt('f1', null), false).word).toBe('stopped');
});

test('values are written without the types of numbers', () => {
  expect(valuesText(['i64:10', '"hello"', 'P{a: 0, s: ""}', ['u8:1', 'bool:true'], { x: 'f64:1.5' }, null])).toBe(
    '10, "hello", P{a: 0, s: ""}, [1, true], {x: 1.5}, null',
  );
});

test('the arguments of a counterexample are sent as the function takes them', () => {
  const params = [{ type: 'string' }, { type: 'Account' }];
  const found = { args: ['"a\\"b"', 'Account{owner: "Ada"}'], function: { ref: 'f1', path: 'm::f', params } };
  expect(argsOf(found)).toEqual(['a"b', 'Account{owner: "Ada"}']);
});

test('cases stand under their functions, what is red first', () => {
  const one = (name: string, status: Case['status'], path: string) => ({ name, status, function: { path } }) as Case;
  const cases = [one('a', 'GREEN', 'm::b'), one('b', 'RED', 'm::b'), one('c', 'STALE', 'm::a')];
  expect(casesByFunction(cases).map(([path, all]) => [path, all.map(({ name }) => name).join('')])).toEqual([
    ['m::a', 'c'],
    ['m::b', 'ba'],
  ]);
  expect(countsOf(cases)).toEqual({ GREEN: 1, RED: 1, STALE: 1 });
});

test('a case that is red tells what came in the place of what was expected', () => {
  const red = { status: 'RED', expected: [40], returned: [50], message: 'expected i64:40, returned i64:50' } as unknown;
  const told = (more: Partial<Case>) => caseTold({ ...(red as Case), ...more });
  expect(told({})).toBe(`expected ${valuesText([40])}, returned ${valuesText([50])}`);
  expect(told({ returned: null, message: 'division by zero' })).toBe('division by zero');
  expect(told({ status: 'GREEN', message: null })).toBe(null);
});

test('a search says how many functions it broke', () => {
  const attempt = (of: string, ending: Attempt['ending']) => ({ function: of, ending }) as Attempt;
  const search = [attempt('f1', 'FOUND'), attempt('f2', 'TRIED'), attempt('f3', null)].reduce(further, {
    ...IDLE,
    status: 'running',
  });
  expect(brokenOf(search)).toBe(1);
  expect(saying(search, 3)).toBe('2 of 3 functions done, 1 broken');
  expect(saying({ ...search, status: 'done' }, 3)).toBe('Done: 2 functions, 1 broken.');
  expect([saying({ ...IDLE, status: 'cancelled' }, 3), saying(IDLE, 3)]).toEqual(['Cancelled.', '']);
});
