import { expect, test } from 'vitest';

import { readFunctionSearch, readHistorySearch, readRunSearch, readVerifySearch } from './search';

test('an address keeps what makes sense in it', () => {
  expect(readFunctionSearch({ rev: 12, node: 'n5' })).toEqual({ rev: 12, node: 'n5' });
  expect(readFunctionSearch({ rev: '12' })).toEqual({ rev: 12 });
  expect(readFunctionSearch({ rev: 'head', node: '<b>', more: 1 })).toEqual({});
  expect(readFunctionSearch({ rev: -1, node: 5 })).toEqual({});
});

test('the address of a history keeps names, also those that look like numbers', () => {
  expect(readHistorySearch({ branch: 'fees', author: 7, touching: ' ', sel: 5 })).toEqual({
    branch: 'fees',
    author: '7',
    sel: '5',
  });
});

test('an address of a run keeps the simulation and the step', () => {
  expect(readRunSearch({ sim: 'S-1', step: '12', node: 'n5' })).toEqual({ sim: 'S-1', step: 12, node: 'n5' });
  expect(readRunSearch({ sim: 'x', step: -1 })).toEqual({});
  expect(readRunSearch({ step: 1.5, rev: 3 })).toEqual({ rev: 3 });
});

test('the address of a verification keeps what it knows', () => {
  expect(readVerifySearch({ tab: 'cases', severity: 'HINT', code: 'EMPTY_INPUT', fn: 'f3' })).toEqual({
    tab: 'cases',
    code: 'EMPTY_INPUT',
    fn: 'f3',
  });
});
