// Writes `generated/graphql.ts`: the types of the schema that documents use, the types of every operation's variables and
// answer, and the operations themselves as strings that carry those types.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { codegen } from '@graphql-codegen/core';
import * as operations from '@graphql-codegen/typescript-operations';
import { buildSchema, parse, print, validate, visit } from 'graphql';

const web = new URL('../', import.meta.url).pathname;
const target = join(web, 'generated/graphql.ts');
const SOURCES = ['app', 'features', 'lib'];
/** Documents that are shown to the reader, and that no code runs. */
const SHOWN = 'features/explore/ready/';

const schemaText = readFileSync(join(web, '../schema.graphql'), 'utf8');
const schema = buildSchema(schemaText);

const documents = SOURCES.flatMap((folder) =>
  readdirSync(join(web, folder), { recursive: true })
    .map((name) => join(web, folder, name.toString()))
    .filter((path) => path.endsWith('.graphql') && !path.includes(SHOWN))
    .sort()
    .map((path) => ({ location: relative(web, path), document: parse(readFileSync(path, 'utf8')) })),
);

const definitions = documents.flatMap(({ document }) => document.definitions);
const errors = validate(schema, { kind: 'Document', definitions });
if (errors.length > 0) {
  for (const error of errors) console.error(error.toString());
  process.exit(1);
}

const fragments = new Map(definitions.filter(isFragment).map((fragment) => [fragment.name.value, fragment]));

function isFragment({ kind }) {
  return kind === 'FragmentDefinition';
}

/** The fragments that a definition needs, those of fragments included, in the order in which they are met. */
function needed(definition, found = new Set()) {
  visit(definition, {
    FragmentSpread({ name }) {
      const fragment = fragments.get(name.value);
      if (!fragment || found.has(fragment)) return;
      found.add(fragment);
      needed(fragment, found);
    },
  });
  return [...found];
}

const types = await codegen({
  filename: target,
  schema: parse(schemaText),
  documents,
  config: {
    enumType: 'string-literal',
    useTypeImports: true,
    inlineFragmentTypes: 'combine',
    defaultScalarType: 'unknown',
    scalars: {
      ID: 'string',
      Count: { input: 'number', output: 'number' },
      DateTime: 'string',
      JSON: 'unknown',
      Value: 'unknown',
    },
  },
  plugins: [{ operations: {} }],
  pluginMap: { operations },
});

const strings = definitions
  .filter((definition) => !isFragment(definition))
  .map((definition) => {
    const name = definition.name.value;
    const kind = definition.operation[0].toUpperCase() + definition.operation.slice(1);
    const text = [definition, ...needed(definition)].map(print).join('\n');
    return `export const ${name}Document = ${JSON.stringify(text)} as unknown as TypedDocument<${name}${kind}, ${name}${kind}Variables>;`;
  });

const head = `// Made by \`npm run codegen\` from the schema and the documents beside the components.
import type { TypedDocumentNode } from '@urql/core';

/** An operation's text, with the types of what it answers and takes. */
type TypedDocument<Data, Variables> = TypedDocumentNode<Data, Variables & Record<string, unknown>> & string;
`;

const text = [head, types, ...strings, ''].join('\n');
mkdirSync(join(web, 'generated'), { recursive: true });
// A file that is written looks new, and what is built of it old.
if (!existsSync(target) || readFileSync(target, 'utf8') !== text) writeFileSync(target, text);
console.log(`${strings.length} operations from ${documents.length} documents`);
