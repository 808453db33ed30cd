import { expect, test } from 'vitest';

import { BATCH, openVerdicts, type Answer } from './verdicts';

const problem: Answer = { problem: { code: 'TIMEOUT', message: 'late', action: '' } };
const verified = (number: number) => ({ verified: { revision: { number } } }) as Answer;
const turn = () => new Promise((done) => setTimeout(done));

test('what is wanted together is asked for together, the newest first, so many at once', async () => {
  const asked: number[][] = [];
  const verdicts = openVerdicts(async (revisions) => {
    asked.push([...revisions]);
    return revisions.map(verified);
  });
  let told = 0;
  verdicts.subscribe(() => (told += 1));
  for (let revision = 1; revision <= BATCH + 3; revision += 1) verdicts.want(revision);
  verdicts.want(1);
  await turn();
  expect(asked.map((batch) => batch.length)).toEqual([BATCH, 3]);
  expect([asked[0]?.[0], asked[1]]).toEqual([BATCH + 3, [3, 2, 1]]);
  expect([told, verdicts.of(2), verdicts.of(99)]).toEqual([2, verified(2), undefined]);
  // What is known is not asked for again.
  verdicts.want(2);
  await turn();
  expect(asked.length).toBe(2);
});

test('what failed is asked for again when it is wanted again, and keeps nothing else from its answer', async () => {
  let fails = true;
  const verdicts = openVerdicts(async (revisions) =>
    revisions.map((number) => (number === 5 && fails ? problem : verified(number))),
  );
  verdicts.want(5);
  verdicts.want(6);
  await turn();
  expect([verdicts.of(5), verdicts.of(6)]).toEqual([problem, verified(6)]);
  fails = false;
  verdicts.want(5);
  await turn();
  expect(verdicts.of(5)).toEqual(verified(5));
});
