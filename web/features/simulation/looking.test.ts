import { expect, test } from 'vitest';

import { lastStep, roundOf, stepsBetween, type Seen } from './looking';

/** A run in which the nodes take turns: a loop of three rounds, twice, the second time one call deeper. */
const RUN: Seen[] = [0, 1].flatMap((frame) =>
  [{ node: 'n1' }, ...[1, 2, 3].flatMap(() => [{ node: 'n2' }, { node: 'n3' }])].map(({ node }, at) => ({
    seq: frame * 1000 + at,
    frame,
    node,
  })),
);
let asked = 0;
const ask = (nodes: readonly string[], from: number, most = 2) => {
  asked += 1;
  const found = RUN.filter(({ node, seq }) => nodes.includes(node) && seq >= from);
  return Promise.resolve({ steps: found.slice(0, most), nextSeq: found[most]?.seq ?? null });
};

test('the steps before a number are read page by page', async () => {
  const { steps, whole } = await stepsBetween((from) => ask(['n2'], from), 0, 5);
  expect([steps.map(({ seq }) => seq), whole]).toEqual([[1, 3], true]);
});

test('the last step that fits is found, near or far', async () => {
  expect(
    await lastStep(
      (from) => ask(['n3'], from),
      6,
      () => true,
    ),
  ).toBe(4);
  expect(
    await lastStep(
      (from) => ask(['n1'], from),
      900_000,
      ({ frame }) => frame === 0,
    ),
  ).toBe(0);
  expect(
    await lastStep(
      (from) => ask(['n1'], from),
      0,
      () => true,
    ),
  ).toBe(null);
});

test('what is near is found without reading the whole run', async () => {
  asked = 0;
  await lastStep(
    (from) => ask(['n3'], from, 100),
    1006,
    () => true,
  );
  expect(asked).toBe(1);
});

test('rounds are counted from where the loop was entered in this call', async () => {
  const loop = { node: 'n1', name: 'L', first: 'n2' };
  const round = (at: string, frame: number, position: number) => roundOf(ask, loop, { at, frame, position });
  expect(await round('n2', 0, 1)).toBe(1);
  expect(await round('n3', 0, 2)).toBe(1);
  expect(await round('n2', 0, 3)).toBe(2);
  expect(await round('n3', 1, 1004)).toBe(2);
  expect(await round('n2', 2, 1004)).toBe(null);
});
