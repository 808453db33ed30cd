// The schema is read from disk, where the page's environment has no addresses.
// @vitest-environment node
import { readFileSync } from 'node:fs';

import { buildSchema, getOperationAST, getVariableValues, parse, validate } from 'graphql';
import { expect, test } from 'vitest';

import { prettyDocument } from './pretty';
import { READY_TABS } from './ready';

const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));

const named = READY_TABS.map(({ query, variables }) => {
  const operation = getOperationAST(parse(query));
  return { name: operation?.name?.value ?? '', operation, query, variables };
});

test.each(named)('$name is what the server takes', ({ operation, query, variables }) => {
  expect(validate(schema, parse(query))).toEqual([]);
  const given = getVariableValues(schema, operation?.variableDefinitions ?? [], JSON.parse(variables || '{}'));
  expect(given.errors).toBeUndefined();
});

test.each(named)('$name says what it is for, and is in the usual form', ({ query }) => {
  expect(query).toMatch(/^# \w/);
  expect(prettyDocument(query)).toBe(query);
});

test('nothing is stored by running what stands there', () => {
  const inputs = named.flatMap(({ name, variables }) =>
    /^(Edit|Undo)$/.test(name) ? [JSON.parse(variables).input.dryRun] : [],
  );
  expect(inputs).toEqual([true, true]);
});

test('each tab has a title of its own', () => expect(new Set(named.map(({ name }) => name)).size).toBe(named.length));
