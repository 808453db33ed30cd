import { expect, test } from 'vitest';

import {
  headline,
  headOf,
  labelsByNumber,
  lengthened,
  merged,
  movedBy,
  newestBranches,
  renewed,
  selectionOf,
  selectionText,
  shortest,
  sidesOf,
  takenBackOn,
  toggled,
  type Branch,
  type Checkpoint,
  type Item,
  type Line,
  type Lines,
} from './model';

const item = (number: number, undone = false) => ({ number, undone, branch: 'main', kind: 'EDIT' }) as Item;
const page = (numbers: number[], endCursor: string | null) => ({
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
  nodes: numbers.map((number) => item(number)),
});
const numbers = (line: Line) => line.items.map(({ number }) => number);

test('a line grows downwards, and is renewed from above without forgetting what was loaded', () => {
  const one = lengthened(undefined, page([9, 8, 7], 'a'));
  const two = lengthened(one, page([7, 6, 5], 'b'));
  expect([numbers(two), two.next]).toEqual([[9, 8, 7, 6, 5], 'b']);
  const renew = renewed(two, { ...page([11, 10, 9], 'c'), nodes: [item(11), item(10), item(9, true)] });
  expect([numbers(renew), renew.next]).toEqual([[11, 10, 9, 8, 7, 6, 5], 'b']);
  expect(renew.items[2]?.undone).toBe(true);
  expect(renewed(undefined, page([2, 1], null))).toMatchObject({ next: null });
});

test('lines are told as one only as far as all of them are known', () => {
  const lines: Lines = new Map([
    ['main', lengthened(undefined, page([10, 6, 5], 'a'))],
    ['fees', lengthened(undefined, page([9, 8, 3, 2, 1], null))],
  ]);
  expect(merged(lines).map(({ number }) => number)).toEqual([10, 9, 8, 6, 5]);
  expect(shortest(lines)).toEqual(['main']);
  expect(shortest(new Map())).toEqual([]);
});

test('the head of a branch is what is known of it or what came since', () => {
  const known = [{ name: 'main', head: { number: 7 } }] as Branch[];
  const checkpoint = { ...item(9), kind: 'CHECKPOINT' } as Item;
  expect(headOf('main', known, [item(8), checkpoint, { ...item(10), branch: 'fees' }])).toBe(8);
  expect(headOf('main', known, [])).toBe(7);
  expect(headOf('gone', known, [])).toBe(null);
});

test('revisions are taken back on the branch that is looked at, or on their own', () => {
  const branches = [{ name: 'main' }, { name: 'fees' }];
  const fee = { ...item(4), branch: 'fees' };
  const all = { here: 'main', line: null, branches };
  const told = (revisions: Item[], where: Parameters<typeof takenBackOn>[1] = all) => takenBackOn(revisions, where);
  expect(told([item(3)])).toEqual({ branch: 'main' });
  expect(told([fee])).toEqual({ branch: 'fees' });
  // What a branch has from before it began is taken back there too.
  expect(told([item(3), fee], { ...all, here: 'fees', line: new Set([3, 4]) })).toEqual({ branch: 'fees' });
  expect(told([item(3), fee])).toEqual({
    why: 'These are on the branches main and fees: one at a time is changed',
  });
  expect(told([item(3), { ...item(1), kind: 'CREATE' }])).toEqual({
    why: 'r1 made the program: nothing was there before it',
  });
  expect(told([{ ...item(5), kind: 'CHECKPOINT' }])).toEqual({ why: 'r5 gave a name and changed no content' });
  expect(told([{ ...fee, branch: 'gone' }])).toEqual({ why: 'The branch gone is not there any more' });
});

test('of many branches those stand beside main that moved last', () => {
  const branches = Array.from({ length: 30 }, (_, at) => ({ name: `b${at}`, head: { number: at } }) as Branch);
  const shown = newestBranches([...branches, { name: 'main', head: { number: 0 } } as Branch]);
  expect([shown.length, ...shown.slice(0, 3)]).toEqual([12, 'main', 'b29', 'b28']);
});

test('revisions are labelled by the branches and checkpoints that point at them', () => {
  const branches = [{ name: 'main', head: { number: 7 } }] as Branch[];
  const checkpoints = [{ name: 'green', revision: { number: 7 } }] as Checkpoint[];
  expect(
    labelsByNumber(branches, checkpoints)
      .get(7)
      ?.map(({ name }) => name),
  ).toEqual(['main', 'green']);
});

test('a selection is read from an address, and changed one by one', () => {
  expect(selectionOf('r7,5,r7,x,-1')).toEqual([5, 7]);
  expect(selectionText([5, 7])).toBe('r5,r7');
  expect(selectionOf(undefined)).toEqual([]);
  expect(toggled([5], 3)).toEqual([3, 5]);
  expect(toggled([3, 5], 3)).toEqual([5]);
});

test('what left no message is told by what it did', () => {
  expect(headline({ ...item(5), kind: 'UNDO', message: null, target: { number: 3 } } as Item)).toBe('Went back to r3');
  expect(headline({ ...item(5), message: 'why' } as Item)).toBe('why');
});

test('what one conflict looks like is asked with ours where nothing is said yet', () => {
  const conflicts = [{ ref: 'n1' }, { ref: 'n2' }, { ref: 'n2' }, { ref: 'f3' }];
  expect(
    sidesOf(
      conflicts,
      [
        { ref: 'f3', take: 'THEIRS' },
        { ref: 'n1', take: 'OURS' },
      ],
      'n1',
      'THEIRS',
    ),
  ).toEqual([
    { ref: 'n1', take: 'THEIRS' },
    { ref: 'n2', take: 'OURS' },
    { ref: 'f3', take: 'THEIRS' },
  ]);
});

test('an undo takes back what the branch builds on last, a redo brings back the first that was undone after it', () => {
  const step = (number: number, kind: string, undone = false) => ({ ...item(number, undone), kind }) as Item;
  const items = [step(6, 'UNDO'), step(5, 'CHECKPOINT'), item(4, true), item(3, true), item(2), step(1, 'CREATE')];
  expect(movedBy('undo', 'main', items)?.number).toBe(2);
  expect(movedBy('redo', 'main', items)?.number).toBe(3);
  expect(movedBy('undo', 'fees', items)).toBe(null);
  // What was undone before another edit is not brought back.
  expect(movedBy('redo', 'main', [item(7), ...items])).toBe(null);
  expect(movedBy('undo', 'main', items.slice(-1))).toBe(null);
});
