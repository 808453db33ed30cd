import { expect, test } from 'vitest';

import { head, nodes, region } from '../function/testing';
import type { AskPart, Part } from '../preview';
import { foreseen } from './foreseen';

const NODES = nodes([
  { ref: 'n1', op: 'struct.get t1.m1', region: 'g1', takes: ['p0'] },
  { ref: 'n2', op: 'return', region: 'g1', takes: ['n1'], gives: [], effect: 'CONTROL' },
]);
const REGIONS = [region('g1', 'BODY', null)];
const NAMES = {
  types: {
    nodes: [
      { ref: 't1', name: 'Account', path: 'bank::Account', fields: [{ ref: 'm1', name: 'balance' }], variants: [] },
    ],
  },
  storage: { nodes: [] },
};

function page<Item>(all: readonly Item[], items: readonly Item[], endCursor: string | null, hasNextPage: boolean) {
  return { totalCount: all.length, pageInfo: { hasNextPage, endCursor }, nodes: [...items] };
}

/** Answers the nodes one by one, the regions at once, of a function that may become another one meanwhile. */
function answering(hashes: readonly string[]) {
  const asked: Part[] = [];
  const ask: AskPart = async (part) => {
    const at = asked.push(part) - 1;
    const contentHash = hashes[at];
    if (contentHash === undefined) return null;
    const after = {
      ...head({ contentHash }),
      nodes: page(NODES, NODES.slice(at, at + 1), `n${at}`, at === 0),
      regions: at === 0 ? page(REGIONS, REGIONS, 'g0', false) : page(REGIONS, [], null, false),
    };
    return { one: { nodes: [{ after }] }, program: NAMES };
  };
  return { ask, asked };
}

test('a function is put together of its pages, with the names of the program as it would be', async () => {
  const { ask, asked } = answering(['h', 'h']);
  const progress: string[] = [];
  const told = (done: number, total: number) => progress.push(`${done} of ${total}`);
  const loaded = await foreseen(ask, { ref: 'f1', behind: 'f0' }, told);
  expect([...(loaded?.graph.nodes.values() ?? [])].map(({ title }) => title)).toEqual([
    'struct.get Account.balance',
    'return',
  ]);
  expect(loaded?.graph.regions.get('g1')?.nodes).toEqual(['n1', 'n2']);
  expect(asked).toEqual([
    { after: 'f0', whole: true, nodes: null, regions: null },
    { after: 'f0', whole: true, nodes: 'n0', regions: 'g0' },
  ]);
  expect(progress).toEqual(['1 of 2', '2 of 2']);
});

test('what becomes another one while it is loaded is not put together', async () => {
  const load = (ref: string, hashes: string[]) => foreseen(answering(hashes).ask, { ref, behind: null }, () => {});
  expect(await load('f1', ['h', 'other'])).toBeNull();
  expect(await load('f1', ['h'])).toBeNull();
  expect(await load('f2', ['h', 'h'])).toBeNull();
});
