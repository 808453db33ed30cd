import { expect, test } from 'vitest';

import { graphOf, readable, spoken } from './model';
import { choice, graph, head, nodes, region } from './testing';

test('names stand in place of refs, but not in texts', () => {
  const names = new Map([
    ['t2', 'Account'],
    ['d4', 'balance'],
    ['f7', 'open'],
  ]);
  expect(readable('struct.get t2.d4', names)).toBe('struct.get Account.balance');
  expect(readable('call f7', names)).toBe('call open');
  expect(readable('const.string "f7 d4"', names)).toBe('const.string "f7 d4"');
  expect(readable('add.i64', names)).toBe('add.i64');
});

test('nodes know their kind, their holes and who takes their values', () => {
  const { nodes, users, roots, body } = choice();
  expect([...nodes.values()].map(({ ref, kind, holes }) => `${ref} ${kind} ${holes}`)).toEqual([
    'n1 const 0',
    'n2 compute 0',
    'n3 control 0',
    'n4 compute 1',
    'n5 control 0',
    'n6 control 0',
    'n7 control 0',
  ]);
  expect(users.get('n1')).toEqual(['n2', 'n6']);
  expect(nodes.get('n3')?.regions).toEqual(['g2', 'g3']);
  expect([roots, body]).toEqual([['g1'], 'g1']);
});

test('a constant is told by its value alone', () => expect(choice().nodes.get('n1')?.title).toBe('2'));

test('arguments are named as the callee names them', () => {
  const callees = {
    totalCount: 1,
    nodes: [{ ref: 'f2', name: 'g', path: 'm::g', signature: '', params: [{ name: 'amount' }] }],
  };
  const called = graph([{ ref: 'n1', op: 'call f2', region: 'g1', takes: ['p0'] }], [region('g1', 'BODY', null)], {
    callees,
  });
  const node = called.nodes.get('n1');
  expect([node?.title, node?.callee, node?.inputs[0]?.name]).toEqual(['call g', 'f2', 'amount']);
});

test('the fields of a struct that is made are named as its type names them', () => {
  const [made] = nodes([{ ref: 'n1', op: 'struct.new t3', region: 'g1', takes: ['p0', '?'] }]);
  const inputs = made?.inputs.map((input) => ({ ...input, name: `fields${input.index}` })) ?? [];
  const fields = [
    { ref: 'd4', name: 'owner' },
    { ref: 'd5', name: 'balance' },
  ];
  const types = { nodes: [{ ref: 't3', name: 'Account', path: 'm::Account', fields, variants: [] }] };
  const named = (given: typeof types | null) =>
    graphOf(head(), { types: given, storage: null }, made ? [{ ...made, inputs }] : [], [region('g1', 'BODY', null)])
      .nodes.get('n1')
      ?.inputs.map(({ name }) => name);
  expect([named(types), named(null)]).toEqual([
    ['owner', 'balance'],
    ['', ''],
  ]);
});

test('an exit names the label of what it leaves', () => {
  const given = nodes([
    { ref: 'n1', op: 'loop L -> ()', region: 'g1', gives: [], label: 'unseen' },
    { ref: 'n2', op: 'continue n1', region: 'g2', gives: [] },
  ]);
  const regions = [region('g1', 'BODY', null), { ...region('g2', 'BODY', 'n1'), label: 'L' }];
  const { nodes: found } = graphOf(head(), { types: null, storage: null }, given, regions);
  expect(found.get('n2')?.title).toBe('continue L');
});

test('a case is told by what it is for and what it has', () => {
  const regions = [
    region('g1', 'BODY', null),
    region('g2', 'CASE', 'n1'),
    region('g3', 'CASE', 'n1', ['number']),
    region('g4', 'DEFAULT', 'n1'),
    region('g5', 'CASE', 'n2'),
  ];
  const types = [
    {
      ref: 't3',
      name: 'Payment',
      path: 'm::Payment',
      fields: [],
      variants: [
        { ref: 'd9', name: 'cash' },
        { ref: 'd10', name: 'card' },
      ],
    },
  ];
  const given = nodes([
    { ref: 'n1', op: 'match (t3.d9, t3.d10, default) -> (i64)', region: 'g1', takes: ['p0'] },
    { ref: 'n2', op: 'match (-7, default) -> ()', region: 'g1', takes: ['p0'] },
  ]);
  const { regions: found } = graphOf(head(), { types: { nodes: types }, storage: null }, given, regions);
  expect([...found.values()].map(({ title }) => title)).toEqual([
    'body',
    'case cash',
    'case card (number)',
    'default',
    'case -7',
  ]);
});

test('findings stand at their nodes', () => {
  const finding = {
    code: 'EMPTY_INPUT',
    message: 'input `b` is empty',
    severity: 'WARNING' as const,
    incomplete: true,
    details: { node: 'n1', port: 1 },
  };
  const { nodes } = graph(
    [{ ref: 'n1', op: 'add.i64', region: 'g1', takes: ['p0', '?'] }],
    [region('g1', 'BODY', null)],
    {
      diagnostics: { totalCount: 1, nodes: [finding] },
    },
  );
  const node = nodes.get('n1');
  expect(node?.findings).toEqual([{ code: 'EMPTY_INPUT', message: 'input `b` is empty', error: false, port: 1 }]);
  expect(node && spoken(node)).toBe('add.i64, gives i64, has a hole, 1 diagnostic, n1');
});
