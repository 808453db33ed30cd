import { expect, test } from 'vitest';

import type { TokenScope } from '../generated/graphql';
import { callerOf } from './caller';

const actor = { name: 'ann', kind: 'HUMAN' as const };

test('what the token lacks is told, what it has is not', () => {
  const reader = callerOf({ actor, scopes: ['READ'] });
  expect([reader.name, reader.lacks('READ')]).toEqual(['ann', null]);
  expect(reader.lacks('EDIT')).toMatch(/EDIT/);
  expect(callerOf({ actor, scopes: ['ADMIN'] }).lacks('EDIT')).toBe(null);
});

test('what a token lets its holder do is one sentence', () => {
  const may = (...scopes: TokenScope[]) => callerOf({ actor, scopes }).may;
  expect(may('READ')).toBe('only look');
  expect(may('EDIT')).toBe('look and change anything');
  expect(may('EDIT', 'SIMULATE')).toBe('look, run functions and change anything');
  expect(may('ADMIN')).toBe('look, run functions, change anything and manage the server');
});

test('before the server has said anything nothing is forbidden', () => {
  expect([callerOf(undefined).lacks('EDIT'), callerOf(undefined).name]).toEqual([null, null]);
});
