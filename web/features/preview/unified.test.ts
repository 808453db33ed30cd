import { expect, test } from 'vitest';

import { fileOf, filesOf, firstLines, isCut, kindOf, looksByRef } from './unified';

const DIFF = `--- shop::total
+++ shop::total
@@ -3,3 +3,3 @@
   cheap#n24 = lt_s.i64 sum, 100#n23
-  sum#n22 = add.i64 price, count
+  sum#n22 = mul.i64 price, count
   return#n32 cost
--- shop::twice
+++ /dev/null
@@ -1,2 +0,0 @@
-func twice#f7 (n: i64) #g8 {
--- not a head
--- /dev/null
+++ shop::new
@@ -0,0 +1 @@
+func new#f9 () #g10 { yield#n11 (add.i64#n12 1#n13, _) }
`;

test('a diff is read by what it is about; lines have the numbers of their sides', () => {
  const files = filesOf(DIFF);
  expect(files.map(({ path, added, removed }) => [path, added, removed])).toEqual([
    ['shop::total', 1, 1],
    ['shop::twice', 0, 2],
    ['shop::new', 1, 0],
  ]);
  expect(files[0]?.lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ['hunk', null, null],
    ['same', 3, 3],
    ['removed', 4, null],
    ['added', null, 4],
    ['same', 5, 5],
  ]);
  expect(files[1]?.lines.at(-1)?.text).toBe('-- not a head');
});

test('a diff tells what it is of, and what became of that', () => {
  expect(filesOf(DIFF).map(({ change }) => change)).toEqual(['MODIFIED', 'REMOVED', 'ADDED']);
  const of = (text: string) => kindOf(fileOf('m::x', '', text));
  expect(of('pub type P#t2 = struct { x#d3: f64 }')).toBe('type');
  expect(of('  ; In cents.\n  balance#d4: i64,')).toBe('type');
  expect(of('pub global mut seen#v3: i64 = 0')).toBe('storage');
  expect(of('module shop#m2')).toBe('module');
  expect(of('func f#f4 () -> () {')).toBeNull();
});

test('a long diff is cut by its lines', () => {
  const cut = firstLines(filesOf(DIFF), 7);
  expect(cut.map(({ path, lines }) => [path, lines.length])).toEqual([
    ['shop::total', 5],
    ['shop::twice', 2],
  ]);
});

test('an entity is found by its ref, as it was and as it is', () => {
  const looks = looksByRef(filesOf(DIFF));
  expect(looks.get('n22')).toEqual({ before: 'sum = add.i64', after: 'sum = mul.i64' });
  expect(looks.get('n24')).toEqual({ before: 'cheap = lt_s.i64', after: 'cheap = lt_s.i64' });
  expect(looks.get('n12')).toEqual({ before: null, after: 'add.i64' });
  expect(looks.get('n13')).toEqual({ before: null, after: '1' });
  expect(looks.get('n99')).toBeUndefined();
  const own = looksByRef([fileOf('f', '  n52 = sub.i64 paid, _', '  n52 = sub.i64 paid, due')]);
  expect(own.get('n52')).toEqual({ before: 'sub.i64', after: 'sub.i64' });
});

test('two texts are compared by their lines, with a few around', () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  const changed = lines.with(10, 'another').toSpliced(12, 0, 'new');
  const file = fileOf('f', lines.join('\n'), changed.join('\n'));
  expect([file.added, file.removed]).toEqual([2, 1]);
  expect(file.lines.map(({ kind, text }) => `${kind[0]} ${text}`)).toEqual([
    'h …',
    's line 7',
    's line 8',
    's line 9',
    'r line 10',
    'a another',
    's line 11',
    'a new',
    's line 12',
    's line 13',
    's line 14',
  ]);
  expect(fileOf('f', 'same\n', 'same').lines).toEqual([]);
});

test('a small change of a long text is told as one', () => {
  const lines = Array.from({ length: 9000 }, (_, at) => `line ${at}`);
  const { added, removed } = fileOf('f', lines.join('\n'), lines.with(8000, 'another').join('\n'));
  expect([added, removed]).toEqual([1, 1]);
  const twice = fileOf('f', 'a\na', 'a\na\na');
  expect(twice.lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ['same', 1, 1],
    ['same', 2, 2],
    ['added', null, 3],
  ]);
});

test('what comes before the cut of a diff is read', () => {
  const diff = '--- a/m::f\n+++ b/m::f\n@@ -1,3 +1,3 @@\n a\n-b\n+c';
  const cut = `${diff}\n... cut off: ask for single functions\n`;
  expect(isCut(cut)).toBe(true);
  expect(isCut(`${diff}\n d\n`)).toBe(false);
  expect(filesOf(cut)).toEqual(filesOf(diff));
  expect(filesOf(cut)[0]?.lines.map(({ text }) => text)).toEqual(['@@ -1,3 +1,3 @@', 'a', 'b', 'c']);
});
