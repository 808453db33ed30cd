import { expect, test } from 'vitest';

import { railsOf } from './lanes';
import type { Item } from './model';

const on = (number: number, branch: string, begun: number | null, more: Partial<Item> = {}) =>
  ({
    number,
    branch,
    branchBegunIn: begun === null ? null : { number: begun },
    kind: 'EDIT',
    parents: [{ number: number - 1 }],
    target: null,
    ...more,
  }) as Item;

test('a branch has a lane of its own, which ends in the revision that it begins with', () => {
  const { rails, lanes } = railsOf([
    on(6, 'main', null),
    on(5, 'fees', 4),
    on(4, 'fees', 4, { kind: 'BRANCH', target: { number: 2 } } as Partial<Item>),
    on(3, 'main', null),
    on(2, 'main', null),
    on(1, 'main', null, { kind: 'CREATE' }),
  ]);
  expect(lanes).toBe(2);
  expect(rails.map(({ lane }) => lane)).toEqual([0, 1, 1, 0, 0, 0]);
  // Between, the lane goes on; at r2 it comes in.
  expect(rails[3]?.strands).toContainEqual({ top: 1, bottom: 1, lane: 1 });
  expect(rails[4]?.strands).toContainEqual({ top: 1, bottom: null, lane: 1 });
  expect(rails[5]?.strands).toEqual([{ top: 0, bottom: null, lane: 0 }]);
});

test('a merge draws a line from the branch that it brought in', () => {
  const { rails } = railsOf([
    on(7, 'main', null, { kind: 'MERGE', parents: [{ number: 3 }, { number: 5 }] }),
    on(5, 'fees', 4),
    on(3, 'main', null),
  ]);
  expect(rails[0]?.strands).toContainEqual({ top: null, bottom: 1, lane: 1 });
  expect(rails[1]).toMatchObject({ lane: 1, strands: expect.arrayContaining([{ top: 1, bottom: null, lane: 1 }]) });
});

test('branches that are over make room for others', () => {
  const branch = (begun: number, from: number) => [
    on(begun + 1, `b${begun}`, begun),
    on(begun, `b${begun}`, begun, { kind: 'BRANCH', target: { number: from } } as Partial<Item>),
    on(from, 'main', null),
  ];
  expect(railsOf([...branch(8, 7), ...branch(4, 3)]).lanes).toBe(2);
});
