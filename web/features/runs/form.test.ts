import { expect, test } from 'vitest';

import { draftOf, fieldsOf, inputOf, valueOf, type Field } from './form';

const DRAFT = {
  type: 'object',
  required: ['program', 'text'],
  properties: {
    branch: { type: 'string', default: 'main' },
    program: { type: 'string', description: 'By name or id.' },
    text: { type: 'string', 'x-multiline': true },
    attempts: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
    strict: { type: 'boolean' },
    how: { enum: ['quick', 3, null] },
    hints: { type: 'array', items: { type: 'string' } },
    patch: { type: 'string', format: 'patch' },
    why: { type: 'string' },
  },
};

const field = (name: string): Field => {
  const found = fieldsOf(DRAFT).find((each) => each.name === name);
  if (!found) throw new Error(name);
  return found;
};

test('a schema makes fields, what is needed first, and what takes the least writing before what takes more', () => {
  expect(fieldsOf(DRAFT).map(({ name, shape, required }) => `${name} ${shape.kind}${required ? '!' : ''}`)).toEqual([
    'program string!',
    'text text!',
    'branch string',
    'attempts number',
    'strict boolean',
    'how choice',
    'why string',
    'patch text',
    'hints json',
  ]);
});

test('strings are written in lines where the schema hints at it', () => {
  const kind = (property: object) =>
    fieldsOf({ properties: { p: { type: 'string', ...property } } }).map(({ shape }) => shape.kind)[0];
  expect([kind({}), kind({ format: 'patch' }), kind({ maxLength: 100_000 }), kind({ format: 'uri' })]).toEqual([
    'string',
    'text',
    'text',
    'string',
  ]);
});

test('what is no object of properties is one field of JSON', () => {
  for (const schema of [true, null, {}, { type: 'array' }, { type: 'object', properties: {} }])
    expect(fieldsOf(schema).map(({ name, shape }) => [name, shape.kind])).toEqual([['', 'json']]);
  const fields = fieldsOf(true);
  expect(inputOf(fields, { '': '{"a": [1]}' })).toEqual({ input: { a: [1] }, slips: new Map() });
});

test('a form has the defaults, or what another run was given', () => {
  const fields = fieldsOf(DRAFT);
  expect(draftOf(fields, undefined)).toMatchObject({ branch: 'main', program: '', strict: 'false', how: '' });
  expect(
    draftOf(fields, { program: 'shop', branch: 'idea', attempts: 2, strict: true, how: 3, hints: ['x'] }),
  ).toMatchObject({ program: 'shop', branch: 'idea', attempts: '2', strict: 'true', how: '1', hints: '[\n  "x"\n]' });
});

test('what is left out is left out of the input, text keeps its lines', () => {
  const fields = fieldsOf(DRAFT);
  const draft = { ...draftOf(fields, undefined), program: ' shop ', text: 'a\n\nb\n', how: '0' };
  expect(inputOf(fields, draft)).toEqual({
    input: { program: 'shop', text: 'a\n\nb\n', branch: 'main', strict: false, how: 'quick' },
    slips: new Map(),
  });
});

test('what is wrong is told by its place', () => {
  const { slips } = inputOf(fieldsOf(DRAFT), { program: '', text: 'x', attempts: '9', hints: '[1,\n 2,,]' });
  expect([...slips]).toEqual([
    ['program', 'is needed'],
    ['attempts', 'is at most 5'],
    ['hints', 'line 2, column 4: value expected'],
  ]);
  expect(valueOf(field('attempts'), '1.5')).toEqual({ slip: 'is no whole number' });
  expect(valueOf(field('attempts'), 'two')).toEqual({ slip: 'is no number' });
  expect(valueOf(field('attempts'), ' 3 ')).toEqual({ value: 3 });
});
