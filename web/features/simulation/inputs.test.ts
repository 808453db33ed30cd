import { expect, test } from 'vitest';

import {
  argumentAt,
  argumentOf,
  blank,
  draftOf,
  literalOf,
  named,
  outOfRange,
  quoted,
  slip,
  type Draft,
} from './inputs';
import { parts, shapeOf, type TypeInfo } from './types';

const TYPES: TypeInfo[] = [
  {
    ref: 't1',
    name: 'Point',
    path: 'm::Point',
    kind: 'STRUCT',
    fields: [
      { name: 'x', type: 'i32' },
      { name: 'y', type: 'option<f64>' },
    ],
    variants: [],
  },
  {
    ref: 't2',
    name: 'Tree',
    path: 'm::Tree',
    kind: 'ENUM',
    fields: [],
    variants: [
      { name: 'many', payload: 'array<Tree>' },
      { name: 'leaf', payload: null },
    ],
  },
];
const shape = (type: string) => shapeOf(type, TYPES);

test('types are read from their text', () => {
  expect(parts('i32, array<i64, 2>, closure<(i32, f64) -> (i64)>')).toEqual([
    'i32',
    'array<i64, 2>',
    'closure<(i32, f64) -> (i64)>',
  ]);
  expect(shape('array<array<i32, 2>, 3>')).toMatchObject({ kind: 'array', of: 'array<i32, 2>', length: 3 });
  expect(shape('result<i32, option<string>>')).toMatchObject({
    ways: [
      { name: 'ok', payload: 'i32' },
      { name: 'err', payload: 'option<string>' },
    ],
  });
  expect(shape('m::Point').kind).toBe('struct');
  expect(shape('t2').kind).toBe('choice');
  expect(shape('closure<(i32) -> (i32)>').kind).toBe('text');
});

test('a form begins with the least that can be run', () => {
  const begins = (type: string) => literalOf(shape(type), blank(shape(type), TYPES), TYPES);
  expect(begins('Point')).toBe('Point{x: 0, y: none}');
  expect(begins('Tree')).toBe('Tree.leaf');
  expect(begins('array<bool, 2>')).toBe('[false, false]');
  expect(begins('result<i32, string>')).toBe('ok(0)');
  expect(begins('bytes')).toBe('b""');
});

test('what a form holds becomes text', () => {
  const some: Draft = { kind: 'choice', at: 1, payload: { kind: 'text', text: ' 2.5 ' } };
  expect(literalOf(shape('Point'), { kind: 'list', items: [{ kind: 'text', text: '7' }, some] }, TYPES)).toBe(
    'Point{x: 7, y: some(2.5)}',
  );
  expect(literalOf(shape('bytes'), { kind: 'bytes', as: 'text', text: 'a"é' }, TYPES)).toBe('b"a\\22\\c3\\a9"');
  expect(literalOf(shape('bytes'), { kind: 'bytes', as: 'hex', text: '00 ff' }, TYPES)).toBe('hex"00ff"');
  expect(quoted('a"\\\n\u0000')).toBe('"a\\"\\\\\\n\\u{0}"');
});

test('a string is given as it is, and quoted inside of other values', () => {
  const text: Draft = { kind: 'text', text: 'a "b"' };
  expect(argumentOf(shape('string'), text, TYPES)).toBe('a "b"');
  expect(literalOf(shape('option<string>'), { kind: 'choice', at: 1, payload: text }, TYPES)).toBe('some("a \\"b\\"")');
});

test('values that the API told come back into the form', () => {
  expect(draftOf(shape('i64'), 'i64:-5')).toEqual({ kind: 'text', text: '-5' });
  expect(draftOf(shape('string'), '"a\\n\\u{e9}\\""')).toEqual({ kind: 'text', text: 'a\né"' });
  expect(draftOf(shape('bool'), 'bool:true')).toEqual({ kind: 'bool', on: true });
  expect(draftOf(shape('Point'), 'Point{x: 1, y: none}')).toEqual({ kind: 'literal', text: 'Point{x: 1, y: none}' });
});

test('slips are told before the server is asked; errors of the server find their argument', () => {
  expect(slip(shape('i32'), { kind: 'text', text: '1.5' })).toMatch(/whole number/);
  expect(slip(shape('i32'), { kind: 'text', text: '-0x1f' })).toBe(null);
  expect(slip(shape('f64'), { kind: 'text', text: '-inf' })).toBe(null);
  expect(slip(shape('bytes'), { kind: 'bytes', as: 'hex', text: '0' })).toMatch(/two digits/);
  expect([argumentAt(['args[1][2]']), argumentAt(['limits.fuel']), argumentAt([])]).toEqual([1, null, null]);
});

test('a number that its type does not have is told while it is typed', () => {
  const told = (type: string, text: string) => outOfRange(shape(type), { kind: 'text', text });
  expect(['127', '-128', '-', '', '0xff', '1_0'].map((text) => told('i8', text))).toEqual(Array(6).fill(null));
  expect([told('i8', '128'), told('i8', '-129')]).toEqual(['i8 takes -128 to 127', 'i8 takes -128 to 127']);
  expect(told('i64', '9223372036854775808')).toBe('i64 takes -9223372036854775808 to 9223372036854775807');
  expect([told('i64', '9223372036854775807'), told('f64', '1e999'), told('string', '999')]).toEqual([null, null, null]);
  expect(slip(shape('i8'), { kind: 'text', text: '300' })).toBe('i8 takes -128 to 127');
});

test('what the server says of an argument names the parameter', () => {
  const params = [{ name: 'item' }, { name: 'small' }];
  expect(named('`args[1]` is no `i8`', params)).toBe('`small` is no `i8`');
  expect(named('`args[2]` is too many', params)).toBe('`args[2]` is too many');
});
