import { expect, test } from 'vitest';

import { functionKey, programKey, revisionKey } from './program';

test('programs and functions are asked for by what their address looks like', () => {
  expect(programKey('bank')).toEqual({ name: 'bank' });
  const id = '0199c5a0-7a3e-7000-8000-000000000000';
  expect(programKey(id)).toEqual({ id });
  expect(functionKey('f7')).toEqual({ ref: 'f7' });
  expect(functionKey('m::f7')).toEqual({ name: 'm::f7' });
  expect([revisionKey(7), revisionKey(undefined)]).toEqual([{ at: 'r7' }, {}]);
});
