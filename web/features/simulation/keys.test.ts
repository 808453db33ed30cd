import { expect, test } from 'vitest';

import { commandOf, KEYS } from './keys';
import { readRecent, withRun, type Recent } from './recent';
import { plainLine, namedOp } from './names';

const press = (key: string, target: EventTarget | null = null, more = {}) =>
  commandOf({ key, target, ctrlKey: false, metaKey: false, altKey: false, ...more });

test('keys are commands, but not in a field and not with a modifier', () => {
  expect([press('s'), press('R'), press('z')]).toEqual(['step', 'runBack', null]);
  const field = document.createElement('input');
  expect(press('s', field)).toBe(null);
  field.type = 'range';
  expect(press('s', field)).toBe('step');
  expect(press('r', null, { ctrlKey: true })).toBe(null);
  expect([press('ArrowRight'), press('ArrowLeft'), press('ArrowUp')]).toEqual(['step', 'back', null]);
  // The slider moves by them itself, and what the graph or the text has taken is theirs.
  expect(press('ArrowRight', field)).toBe(null);
  expect(press('ArrowRight', null, { defaultPrevented: true })).toBe(null);
  expect(new Set(KEYS.map(({ keys }) => keys)).size).toBe(KEYS.length);
});

test('runs of this browser are read, the newest first, and what is malformed is none', () => {
  const run = (sim: string): Recent => ({
    sim,
    program: 'p',
    function: 'f1',
    revision: 1,
    run: { args: ['1'] },
    origin: 'the form',
    at: '2026-01-01T00:00:00Z',
  });
  const list = withRun(withRun([], run('S-1')), run('S-2'));
  expect(withRun(list, run('S-1')).map(({ sim }) => sim)).toEqual(['S-1', 'S-2']);
  expect(readRecent(JSON.stringify(list))).toEqual(list);
  for (const text of [null, '{', '5', '[null, {"sim": 1}]']) expect(readRecent(text)).toEqual([]);
});

test('operators and lines are read with names and without refs', () => {
  const names = new Map([['f4', { name: 'twice', path: 'm::twice' }]]);
  expect(namedOp('call f4', names)).toBe('call twice');
  expect(namedOp('const.string "f4"', names)).toBe('const.string "f4"');
  expect(plainLine('s#n11 = loop L (i: i64 = 0#n12) -> (i64) #g14 {\n')).toBe('s = loop L (i: i64 = 0) -> (i64)');
});
