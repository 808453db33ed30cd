import { Sun } from 'lucide-react';
import { expect, test } from 'vitest';

import type { PaletteSearchQuery } from '../../generated/graphql';
import {
  contractOwners,
  entriesOf,
  isNodeRef,
  isRunId,
  matches,
  ownerOf,
  revisionOf,
  runsOf,
  sections,
  type Contracts,
  type FoundRun,
} from './model';

const commands = [
  { id: 'theme', label: 'Use dark colours', icon: Sun, run: () => {} },
  { id: 'history', label: 'Go to History', icon: Sun, run: () => {} },
];
const total = { ref: 'f2', path: 'shop::total', signature: '(n: i64)' };
const found = {
  words: {
    nodes: [
      { kind: 'FUNCTION', path: 'shop::total', ref: 'f2', text: 'shop::total (n: i64)' },
      { kind: 'TYPE', path: 'shop::Total', ref: 'd3', text: 'struct' },
    ],
  },
  nodes: {
    nodes: [{ kind: 'NODE', path: 'shop::total::sum', ref: 'n22', text: 'shop::total: sum#n22 = mul.i64 a, b' }],
  },
  program: { functions: { nodes: [total] }, branches: { nodes: [] }, checkpoints: { nodes: [] } },
} as unknown as PaletteSearchQuery;

test('a query means whatever has all its words', () => {
  expect([matches('Go to History', 'hist go'), matches('Go to History', 'hist x')]).toEqual([true, false]);
  expect(entriesOf('dark', commands, undefined, undefined).map(({ label }) => label)).toEqual(['Use dark colours']);
});

test('each thing is told once, and leads to where it is', () => {
  const entries = entriesOf('total', commands, found, undefined);
  expect(entries.map(({ id }) => id)).toEqual(['FUNCTION f2', 'TYPE d3', 'NODE n22']);
  expect(entries[2]).toMatchObject({
    label: 'sum = mul.i64 a, b',
    target: { to: 'function', function: 'shop::total', node: 'n22' },
  });
  expect(sections(entries).map(([kind]) => kind)).toEqual(['function', 'type', 'node']);
});

test('functions that are called like the query stand before those that only have it in their path', () => {
  const nodes = [
    'fees::open',
    'bank::charge_fee',
    'bank::fee_of',
    'bank::fee',
    ...'abcdefgh'.split('').map((name) => `fees::${name}`),
  ].map((path, at) => ({ ref: `f${at}`, path, signature: '' }));
  const search = {
    program: { functions: { nodes }, branches: { nodes: [] }, checkpoints: { nodes: [] } },
  } as unknown as PaletteSearchQuery;
  const labels = (query: string) => entriesOf(query, [], search, undefined).map(({ label }) => label);
  expect(labels('Fee').slice(0, 4)).toEqual(['bank::fee', 'bank::fee_of', 'fees::open', 'bank::charge_fee']);
  expect(labels('fee')).toHaveLength(8);
  expect(labels('bank::fee')[0]).toBe('bank::fee');
});

test('a part of a type leads to the type', () => {
  const parts = { words: { nodes: [{ kind: 'TYPE', path: 'shop::Item.price', ref: 'd7', text: 'i64' }] } };
  const [entry] = entriesOf('price', [], parts as unknown as PaletteSearchQuery, undefined);
  expect(entry?.target).toEqual({ to: 'type', type: 'shop::Item', member: 'd7' });
  expect(entriesOf('total', [], found, undefined)[1]?.label).toBe('shop::Total');
});

test('a contract is told by its function and what it demands, and leads to that', () => {
  const text = 'require#k4 "it is {small}" #g5 { yield#n8 (lt_s.i64#n7 n, 9#n6) }\n';
  const words = [{ kind: 'CONTRACT', path: 'shop::total::k4', ref: 'k4', text: 'shop::total: "it is {small}"' }];
  const search = { words: { nodes: words } } as unknown as PaletteSearchQuery;
  expect(contractOwners(search)).toEqual(['shop::total']);
  const contracts: Contracts = new Map([['k4', { ref: 'k4', kind: 'REQUIRE', message: 'it is {small}', text }]]);
  const entry = { kind: 'contract', id: 'CONTRACT k4' };
  expect(entriesOf('small', [], search, undefined, contracts)).toEqual([
    {
      ...entry,
      label: 'shop::total require “it is {small}”',
      detail: 'lt_s.i64 n, 9',
      target: { to: 'function', function: 'shop::total', node: 'n8' },
    },
  ]);
  expect(entriesOf('small', [], search, undefined)).toEqual([
    {
      ...entry,
      label: 'shop::total contract “it is {small}”',
      detail: 'k4',
      target: { to: 'function', function: 'shop::total', node: null },
    },
  ]);
});

test('refs and revisions are known by how they look', () => {
  expect([revisionOf('r12'), revisionOf('12'), revisionOf('r'), revisionOf('n12')]).toEqual(['12', '12', null, null]);
  expect([isNodeRef('n12'), isNodeRef('net')]).toEqual([true, false]);
  const at = (number: number) =>
    ({ ...found, program: { ...found.program, revision: { number } } }) as unknown as PaletteSearchQuery;
  expect(entriesOf('r7', [], at(7), undefined)[0]?.target).toEqual({ to: 'revision', sel: 'r7' });
  const revisions = (query: string, search: PaletteSearchQuery) =>
    entriesOf(query, [], search, undefined).filter(({ kind }) => kind === 'revision');
  expect([revisions('r999', found), revisions('r99', at(9))]).toEqual([[], []]);
  expect([ownerOf('m::f::sum'), ownerOf('m::f')]).toEqual(['m::f', null]);
});

test('runs are found by flow, words, title and id, each once', () => {
  const run = (id: string, name: string, title: string | null, input: unknown = {}): FoundRun => ({
    input,
    id,
    status: 'WAITING',
    node: 'ask',
    flow: { name },
    session: { title },
  });
  const runs = [run('01-a', 'draft', 'A higher fee'), run('02-b', 'draft', null), run('03-c', 'triage', null)];
  const labels = (query: string) => runsOf(query, [...runs, ...runs]).map(({ label }) => label);
  expect([labels('draft'), labels('fee'), labels('03-c'), labels('')]).toEqual([
    ['draft: A higher fee', 'draft'],
    ['draft: A higher fee'],
    ['triage'],
    [],
  ]);
  const turn = run('04-d', 'act', 'A higher fee', { task: 'List tickets' });
  expect([runsOf('tickets', [turn]), runsOf('fee', [turn])].map(([entry]) => entry?.label)).toEqual([
    'act: List tickets',
    'act: List tickets',
  ]);
  expect(runsOf('fee', runs)[0]).toMatchObject({ detail: 'waiting at ask · 01-a', target: { to: 'run', run: '01-a' } });
});

test('only what looks like an id is asked for as one', () => {
  expect([isRunId('0199c0de-0001'), isRunId('total'), isRunId('n12'), isRunId('a higher fee 12')]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
