import { expect, test } from 'vitest';

import {
  readApprovalsSearch,
  readBeginSearch,
  readFunctionSearch,
  readHistorySearch,
  readRunSearch,
  readRunsSearch,
  readRunViewSearch,
  readStartSearch,
  readTypeSearch,
  readVerifySearch,
} from './search';

test('an address keeps what makes sense in it', () => {
  expect(readFunctionSearch({ rev: 12, node: 'n5' })).toEqual({ rev: 12, node: 'n5' });
  expect(readFunctionSearch({ rev: '12' })).toEqual({ rev: 12 });
  expect(readFunctionSearch({ rev: 'head', node: '<b>', more: 1 })).toEqual({});
  expect(readFunctionSearch({ rev: -1, node: 5 })).toEqual({});
});

test('an address of a type keeps the revision and the part that is selected', () => {
  expect(readTypeSearch({ rev: 3, member: 'd7' })).toEqual({ rev: 3, member: 'd7' });
  expect(readTypeSearch({ rev: 0, member: 'n7', node: 'n1' })).toEqual({});
});

test('the address of a history keeps names, also those that look like numbers', () => {
  expect(readHistorySearch({ branch: 'fees', author: 7, touching: ' ', sel: 5 })).toEqual({
    branch: 'fees',
    author: '7',
    sel: '5',
  });
});

test('the address of a difference keeps how it is shown, and of what', () => {
  expect(readHistorySearch({ sel: 'r2,r4', diff: 'graph', fn: 'f3', node: 'n12' })).toEqual({
    sel: 'r2,r4',
    diff: 'graph',
    fn: 'f3',
    node: 'n12',
  });
  expect(readHistorySearch({ diff: 'structure', fn: 'm::f', node: 'g1' })).toEqual({});
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

test('addresses of runs keep filters that there are', () => {
  expect(readRunsSearch({ flow: 'draft', status: 'FAILED', more: 1 })).toEqual({ flow: 'draft', status: 'FAILED' });
  expect(readRunsSearch({ flow: ' ', status: 'BROKEN' })).toEqual({});
  expect(readRunViewSearch({ density: 'compact', failed: true })).toEqual({ density: 'compact', failed: true });
  expect(readRunViewSearch({ density: 'normal', failed: 'yes' })).toEqual({});
  expect(readStartSearch({ flow: 'draft', from: 12 })).toEqual({ flow: 'draft', from: '12' });
});

test('the inbox without a status is of the open questions', () => {
  expect(readApprovalsSearch({ status: 'OPEN', id: 'I-1' })).toEqual({ id: 'I-1' });
  expect(readApprovalsSearch({ status: 'ANSWERED' })).toEqual({ status: 'ANSWERED' });
});

test('a conversation is begun with the flow that the address names', () => {
  expect(readBeginSearch({ flow: ' act ', other: 1 })).toEqual({ flow: 'act' });
  expect(readBeginSearch({ flow: '' })).toEqual({});
});
