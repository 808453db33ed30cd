import { expect, test } from 'vitest';

import { callerOf } from './caller';

const actor = { name: 'ann', kind: 'HUMAN' as const };

test('what the token lacks is told, what it has is not', () => {
  const reader = callerOf({ actor, scopes: ['READ'] });
  expect([reader.name, reader.lacks('READ')]).toEqual(['ann', null]);
  expect(reader.lacks('EDIT')).toMatch(/EDIT/);
  expect(callerOf({ actor, scopes: ['ADMIN'] }).lacks('EDIT')).toBe(null);
});

test('before the server has said anything nothing is forbidden', () => {
  expect([callerOf(undefined).lacks('EDIT'), callerOf(undefined).name]).toEqual([null, null]);
});
