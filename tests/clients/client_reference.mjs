// The reference implementation accepts the schema, and what the server says of itself equals schema.graphql.
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';

import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  lexicographicSortSchema,
  printSchema,
  validateSchema,
} from 'graphql';

import { post } from './http.mjs';

const file = process.argv[3] ?? new URL('../../schema.graphql', import.meta.url);
const written = buildSchema(readFileSync(file, 'utf8'));
assert.deepEqual(validateSchema(written), []);

const query = getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true, oneOf: true });
const { data, errors } = await post(process.argv[2], query);
assert.equal(errors, undefined);
const served = buildClientSchema(data);
assert.deepEqual(validateSchema(served), []);
assert.equal(printSchema(lexicographicSortSchema(served)), printSchema(lexicographicSortSchema(written)));
console.log(`${Object.keys(served.getTypeMap()).length} types are the same in schema.graphql and in the server`);
