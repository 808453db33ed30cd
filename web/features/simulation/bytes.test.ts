import { expect, test } from 'vitest';

import { addressTyped, lineStart, linesOf } from './bytes';

test('bytes stand in lines, with their letters', () => {
  const [first, last, ...none] = linesOf({ address: 32, hex: `${'41'.repeat(16)}00ff7e` }, null);
  expect(none).toEqual([]);
  expect(first).toMatchObject({ address: 32, letters: 'AAAAAAAAAAAAAAAA' });
  expect(last).toMatchObject({ address: 48, letters: '..~' });
  expect(last!.bytes.map(({ hex }) => hex)).toEqual(['00', 'ff', '7e']);
  expect(linesOf({ address: 0, hex: '' }, null)).toEqual([]);
});

test('what was another byte before is marked, as far as it was known', () => {
  const [line] = linesOf({ address: 16, hex: '000102' }, { address: 17, hex: '01ff' });
  expect(line!.bytes.map(({ changed }) => changed)).toEqual([false, false, true]);
});

test('addresses are typed in either base', () => {
  const typed: [string, number | null][] = [
    ['0', 0],
    [' 1,024 ', 1024],
    ['0xFf', 255],
    ['0x', null],
    ['', null],
    ['-1', null],
    ['12ab', null],
    ['9'.repeat(20), null],
  ];
  for (const [text, address] of typed) expect(addressTyped(text), text).toBe(address);
  expect(lineStart(47)).toBe(32);
});
