import { expect, test } from 'vitest';

import type { RunStatus } from '../../generated/graphql';
import { asked, END, marksOf, pictureOf, sparesOf, spoken, waysOf, type FlowNode } from './picture';
import type { Step } from './timeline';

const node = (name: string, ...targets: string[]): FlowNode => ({
  name,
  targets,
  onFailure: null,
  kind: 'TASK',
  doc: '',
});
const NODES = [node('verify', 'ask', 'verify'), node('ask', 'commit', END), node('commit', END)];
const step = (index: number, name: string, more: Partial<Step> = {}) =>
  ({ index, node: name, branch: '', attempt: 1, goto: null, error: null, ...more }) as Step;

test('nodes are marked by how far the run has come', () => {
  const steps = [step(0, 'verify'), step(1, 'verify'), step(2, 'ask')];
  const told = (status: RunStatus, at: string | null, failed: string | null = null) =>
    [...marksOf(NODES, steps, { status, node: at, failed })].map(([name, mark]) => `${name}: ${spoken(mark)}`);
  expect(told('WAITING', 'ask')).toEqual([
    'verify: tried 2 times',
    'ask: waits here, tried once',
    'commit: not reached',
    'END: not reached',
  ]);
  expect(told('FAILED', 'ask', 'verify')[0]).toBe('verify: failed, tried 2 times');
  expect(told('RUNNING', 'commit')[2]).toBe('commit: at work now');
  expect(told('COMPLETED', null)[3]).toBe('END: reached');
});

test('ways that were gone are those between steps, not between tries', () => {
  const steps = [
    step(0, 'verify', { error: {} }),
    step(1, 'verify', { attempt: 2, goto: 'ask, verify' }),
    step(1, 'ask'),
    step(2, 'commit'),
    step(3, 'side', { branch: '2.0' }),
  ];
  expect([...waysOf(steps, 'COMPLETED')]).toEqual(['verify → ask', 'verify → verify', 'ask → commit', 'commit → END']);
  expect([...waysOf(steps.slice(0, 3), 'WAITING')]).toEqual(['verify → ask', 'verify → verify']);
});

test('the layout is asked for each way once, and only to nodes that there are', () => {
  const { children, edges } = asked([node('a', 'b', 'b', 'gone'), node('b')], false);
  expect([children?.map(({ id }) => id), edges?.map(({ id }) => id)]).toEqual([['a', 'b'], ['a → b']]);
});

test('where a run goes on when a node has failed is a way of its own', () => {
  const nodes = [{ ...node('a', 'b'), onFailure: 'c' }, { ...node('b', 'c'), onFailure: 'c' }, node('c', END)];
  expect(asked(nodes, false).edges?.map(({ id }) => id)).toEqual(['a → b', 'a → c', 'b → c', 'c → END']);
  expect([...sparesOf(nodes)]).toEqual(['a → c']);
});

test('an answer of the layout is a picture', () => {
  const picture = pictureOf({
    id: 'root',
    width: 90,
    height: 50,
    children: [{ id: 'a', x: 1, y: 2, width: 3, height: 4 }],
    edges: [
      {
        id: 'a → b',
        sources: ['a'],
        targets: ['b'],
        sections: [{ id: 's', startPoint: { x: 0, y: 1 }, bendPoints: [{ x: 2, y: 1 }], endPoint: { x: 2, y: 3 } }],
      },
    ],
  } as Parameters<typeof pictureOf>[0]);
  expect(picture.boxes).toEqual([{ name: 'a', x: 1, y: 2, width: 3, height: 4 }]);
  expect(picture.ways[0]?.points.length).toBe(3);
});
