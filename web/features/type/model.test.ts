import { expect, test } from 'vitest';

import {
  containersOf,
  foundBy,
  holdersOf,
  membersOf,
  partsOf,
  resolverOf,
  roleOf,
  usesByFunction,
  type Facts,
  type Named,
  type Use,
} from './model';

const resolve = resolverOf([
  { ref: 't2', path: 'shop::Item' },
  { ref: 't3', path: 'shop::Order' },
  { ref: 't4', path: 'shop::parts::Item' },
  { ref: 't5', path: 'shop::parts::Part' },
]);
const container = (ref: string, path: string, more: object) => ({ ref, path, fields: [], variants: [], ...more });
const named = {
  impact: {
    types: [
      container('t2', 'shop::Item', {}),
      container('t5', 'shop::parts::Part', { fields: [{ name: 'order', type: 'option<Order>' }] }),
      container('t3', 'shop::Order', {
        fields: [
          { name: 'first', type: 'shop::Item' },
          { name: 'rest', type: 'array<shop::Item>' },
          { name: 'count', type: 'i64' },
        ],
        variants: [{ name: 'none', payload: null }],
      }),
    ],
  },
  storage: {
    nodes: [
      { ref: 'v1', path: 'shop::best', kind: 'GLOBAL', type: 'option<shop::Item>' },
      { ref: 'v2', path: 'shop::memory', kind: 'MEMORY', type: null },
    ],
  },
} as unknown as Named;

test('a name means a type of the nearest module around', () => {
  expect(resolve('Item', 'shop::parts')).toBe('t4');
  expect(resolve('Order', 'shop::parts')).toBe('t3');
  expect(resolve('parts::Item', 'shop')).toBe('t4');
  expect(resolve('shop::Item', null)).toBe('t2');
  expect(resolve('Item#t9', 'shop')).toBe('t9');
});

test('from nowhere a name means a type only where there is one', () => {
  expect(resolve('Order', null)).toBe('t3');
  expect(resolve('Item', null)).toBeNull();
  expect(resolve('i64', 'shop')).toBeNull();
});

test('a signature is cut at the types in it, and not at names of parameters', () => {
  expect(partsOf('(Order: box<Order>, n: i64) -> (parts::Part)', resolve, 'shop')).toEqual([
    { text: '(Order: box<', type: null },
    { text: 'Order', type: 't3' },
    { text: '>, n: i64) -> (', type: null },
    { text: 'parts::Part', type: 't5' },
    { text: ')', type: null },
  ]);
  expect(partsOf('Item#t2', resolve, 'shop')).toEqual([{ text: 'Item', type: 't2' }]);
  expect(partsOf('array<u8, 4>', resolve, 'shop')).toEqual([{ text: 'array<u8, 4>', type: null }]);
});

test('fields and variants are members alike', () => {
  const facts = {
    fields: [{ ref: 'd1', name: 'price', doc: null, type: 'i64' }],
    variants: [{ ref: 'd2', name: 'none', doc: 'Nothing.', payload: null }],
  } as unknown as Facts;
  expect(membersOf(facts)).toEqual([
    { ref: 'd1', name: 'price', doc: null, type: 'i64' },
    { ref: 'd2', name: 'none', doc: 'Nothing.', type: null },
  ]);
});

test('what names a type stands before what contains it through others', () => {
  expect(containersOf(named, 't2', resolve)).toEqual([
    { ref: 't3', path: 'shop::Order', members: ['first', 'rest'] },
    { ref: 't5', path: 'shop::parts::Part', members: [] },
  ]);
  expect(holdersOf(named, 't2', resolve).map(({ ref }) => ref)).toEqual(['v1']);
});

test('an address names a type by ref, path or the end of that', () => {
  const found = (name: string) => foundBy(named, name)?.ref;
  expect([found('t3'), found('shop::Order'), found('Part'), found('rder'), found('f7')]).toEqual([
    't3',
    't3',
    't5',
    undefined,
    undefined,
  ]);
});

test('a signature tells what a function does with a type', () => {
  const role = (signature: string) => roleOf(signature, 't3', resolve, 'shop');
  expect(role('(o: Order) -> (i64)')).toBe('takes');
  expect(role('(f: closure<(i64) -> (Order)>) -> ()')).toBe('takes');
  expect(role('() -> (option<Order>)')).toBe('gives');
  expect(role('(o: Order) -> (Order)')).toBe('takes and gives');
  expect(role('(Order: i64) -> ()')).toBe('inside');
});

test('uses stand under their functions, without refs', () => {
  const uses: Use[] = [
    { kind: 'NODE', ref: 'n4', text: 'shop::open: n4 = struct.new Item a#n2, 0#n3', reason: 'makes' },
    { kind: 'VARIABLE', ref: 'v1', text: 'shop::best: Item', reason: 'is exported' },
    { kind: 'NODE', ref: 'n9', text: 'shop::open: it#n9 = struct.get Item.price n4', reason: 'reads' },
  ];
  expect(usesByFunction(uses)).toEqual([
    {
      path: 'shop::open',
      uses: [
        { ref: 'n4', text: 'struct.new Item a, 0', reason: 'makes' },
        { ref: 'n9', text: 'it = struct.get Item.price n4', reason: 'reads' },
      ],
    },
    { path: null, uses: [{ ref: 'v1', text: 'shop::best: Item', reason: 'is exported' }] },
  ]);
});
