import { expect, test } from 'vitest';

import { chase } from './chase';

/** Work that the test finishes. */
function held() {
  const begun: number[] = [];
  let finish = () => {};
  const chased = chase<number>((wanted) => {
    begun.push(wanted);
    return new Promise((resolve) => (finish = resolve));
  });
  const done = async () => {
    finish();
    // What follows begins in a turn of its own.
    await Promise.resolve();
    await Promise.resolve();
  };
  return { begun, chased, done };
}

test('what is under way is finished, then the newest follows', async () => {
  const { begun, chased, done } = held();
  [1, 2, 3].forEach((wanted) => chased.want(wanted));
  expect(begun).toEqual([1]);
  await done();
  expect(begun).toEqual([1, 3]);
  await done();
  chased.want(4);
  expect(begun).toEqual([1, 3, 4]);
});

test('after leaving nothing begins', async () => {
  const { begun, chased, done } = held();
  chased.want(1);
  chased.want(2);
  chased.leave();
  await done();
  expect(begun).toEqual([1]);
});
