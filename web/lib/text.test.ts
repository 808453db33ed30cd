import { expect, test } from 'vitest';

import { demandOf, labelOf, lineByRef, linesOfText, plainText, withoutRefs } from './text';

const TEXT = `; The balance.
func savings#f13 (yearly: i64) -> (i64) pure #g176 {
  empty#n184 = call open("sa#n1ver"#n182, 0#n183)
  n30 = div_s.i64 yearly, _
  yield#n31 n30
}
`;

test('words know the entity that is written behind them', () => {
  const lines = linesOfText(TEXT);
  const refs = lines.map(({ words }) => words.flatMap(({ text, ref }) => (ref ? [`${text}:${ref}`] : [])));
  expect(refs).toEqual([
    [],
    ['savings:f13'],
    ['empty:n184', '"sa#n1ver":n182', '0:n183'],
    ['n30:n30'],
    ['yield:n31', 'n30:n30'],
    [],
  ]);
});

test('refs are not part of what is read', () => {
  const read = linesOfText(TEXT).map(({ words }) => words.map(({ text }) => text).join(''));
  expect(read[1]).toBe('func savings (yearly: i64) -> (i64) pure {');
  expect(read[2]).toBe('  empty = call open("sa#n1ver", 0)');
});

test('words have their kinds', () => {
  const kinds = linesOfText('; doc\nreturn (add.i64 x, -5) "t"').map(({ words }) =>
    words.filter(({ text }) => text.trim()).map(({ text, kind }) => `${text}:${kind}`),
  );
  expect(kinds[0]).toEqual(['; doc:comment']);
  expect(kinds[1]).toContain('return:keyword');
  expect(kinds[1]).toContain('-5:number');
  expect(kinds[1]).toContain('"t":string');
});

test('a node is found in the line where it stands first', () => {
  const places = lineByRef(linesOfText(TEXT));
  expect([places.get('n183'), places.get('n30'), places.get('n99')]).toEqual([2, 3, undefined]);
});

test('a text without refs keeps what stands in quotes, and nodes that are called by their refs', () => {
  expect(plainText(TEXT)).toBe(`; The balance.
func savings (yearly: i64) -> (i64) pure {
  empty = call open("sa#n1ver", 0)
  n30 = div_s.i64 yearly, _
  yield n30
}`);
});

test('a contract demands what its region gives', () => {
  const short = 'require#k4 "it is {small}" #g5 { yield#n8 (lt_s.i64#n7 n, 9#n6) }\n';
  const long = 'ensure#k4 "more" (r) #g5 {\n  d#n6 = sub.i64 r, n\n  yield#n7 d\n}\n';
  expect([demandOf(short), demandOf(long), demandOf('')]).toEqual([['lt_s.i64 n, 9'], ['d = sub.i64 r, n', 'd'], []]);
});

test('a node without a name runs where it is written first, not where it is named', () => {
  const lines = linesOfText('  n97 = add.i64 a, b\n  return#n98 n97\n');
  expect(lines.map(({ refs }) => refs)).toEqual([['n97'], ['n98']]);
});

test('the name of a node stands before its ref, where it is made', () => {
  const text = 'func f#f1 (a: i64) -> (i64) {\n  sum#n7 = add.i64 a, 1#n8\n  return#n9 (mul.i64#n10 sum, a)\n}';
  expect([labelOf(text, 'n7'), labelOf(text, 'n8'), labelOf(text, 'n10'), labelOf(text, 'n99')]).toEqual([
    'sum',
    '',
    '',
    '',
  ]);
});

test('a message names what it is about as the text does', () => {
  const text = 'func f#f2 (x: i64) -> (i64) {\n  y#n17 = add.i64 x, _\n  return#n19 (mul.i64#n18 y, y)\n}';
  const said = (message: string) => withoutRefs(message, { ref: 'f2', name: 'f', text, params: ['x'] });
  expect(said('connect input 1 of `n17` to `f2.0`')).toBe('connect input 1 of `y` to `x`');
  expect(said('connect input 0 of `n19` to `n18`')).toBe(
    'connect input 0 of `return` in line 3 to `mul.i64` in line 3',
  );
  expect(said('connect input 0 of `n19` to `n17.1`')).toBe('connect input 0 of `return` in line 3 to output 1 of `y`');
  expect(said('widen the effect bound of `f2` to reads')).toBe('widen the effect bound of `f` to reads');
  const twice = { ref: 'f2', name: 'f', text: 'return#n1 (neg#n2 (neg#n3 a))', params: [] };
  expect(withoutRefs('remove `n3`', twice)).toBe('remove `neg` (`n3`) in line 1');
  // What is elsewhere, or nothing that has a place, stays as it is.
  expect(said('call `f9` with `0` in `g5`')).toBe('call `f9` with `0` in `g5`');
});
