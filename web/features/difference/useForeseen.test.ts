import { expect, test } from 'vitest';

import { use } from '../../lib/testing';
import { head } from '../function/testing';
import type { AskPart } from '../preview';
import { useForeseen } from './useForeseen';

const NONE = { totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] };
const made = (path: string): AskPart => {
  const after = { ...head({ path }), nodes: NONE, regions: NONE };
  return async () => ({ one: { nodes: [{ after }] }, program: { types: null, storage: null } });
};

test('a function that is foreseen otherwise is loaded again', async () => {
  const loading = await use(useForeseen, {}, made('m::f'), 'f1', null);
  expect(loading.now().loaded?.head.path).toBe('m::f');
  await loading.again(made('m::g'), 'f1', null);
  expect(loading.now()).toMatchObject({ loaded: { head: { path: 'm::g' } }, progress: null, problem: undefined });
});

test('what is not foreseen any more says so, and is asked for again', async () => {
  const answers: Awaited<ReturnType<AskPart>>[] = [null, await made('m::f')({ after: null, first: 1 })];
  const ask: AskPart = async () => answers.shift() ?? null;
  const loading = await use(useForeseen, {}, ask, 'f1', null);
  expect(loading.now()).toMatchObject({ loaded: undefined, problem: { code: 'CONFLICT' } });
  await loading.during(async () => loading.now().retry());
  expect(loading.now()).toMatchObject({ loaded: { head: { path: 'm::f' } }, problem: undefined });
});

test('without a way to ask nothing is loaded', async () => {
  const loading = await use(useForeseen, {}, null, 'f1', null);
  expect(loading.now()).toMatchObject({ loaded: undefined, progress: null, problem: undefined });
});
