import { expect, test } from 'vitest';

import { ago, counted, lasting } from './time';

test('moments are told by their largest unit', () => {
  const at = (seconds: number) => ago(0, seconds * 1000);
  expect([0, 59, 60, 7_199, 86_400, 40 * 86_400, 400 * 86_400].map(at)).toEqual([
    'just now',
    'just now',
    '1 min ago',
    '1 h ago',
    '1 d ago',
    '1 mo ago',
    '1 y ago',
  ]);
});

test('a clock that is behind tells no future', () => expect(ago(5_000, 0)).toBe('just now'));

test('a time that something lasts has its two largest units', () => {
  const HOUR = 3_600_000;
  expect([0, 820.4, 3_240, 59_960, 245_000, 3 * HOUR, 3 * HOUR + 125_000, 50 * HOUR].map(lasting)).toEqual([
    '0 ms',
    '820 ms',
    '3.2 s',
    '1 min',
    '4 min 5 s',
    '3 h',
    '3 h 2 min',
    '2 d 2 h',
  ]);
});

test('numbers agree with their words', () => {
  expect(counted(1, 'hole')).toBe('1 hole');
  expect(counted(12_000, 'node')).toBe('12,000 nodes');
  expect(counted(0, 'entry', 'entries')).toBe('0 entries');
});
