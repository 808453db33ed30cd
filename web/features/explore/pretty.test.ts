import { expect, test } from 'vitest';

import { prettyDocument, prettyJson } from './pretty';

test('a document is put in the usual form', () => {
  expect(prettyDocument('query Q($id:ID!){program(id:$id){name,doc}}')).toBe(`query Q($id: ID!) {
  program(id: $id) {
    name
    doc
  }
}
`);
});

test('comments stay with what they are about', () => {
  const written = `# About it all.

# The first.
query { # opens
 a # one
 # two
 b(x: 1, # why
 y: """a # of text""")
 # the end
}
# Behind.
`;
  const pretty = `# About it all.

# The first.
{ # opens
  a # one
  # two
  b(x: 1, y: """a # of text""") # why
  # the end
}
# Behind.
`;
  expect(prettyDocument(written)).toBe(pretty);
  expect(prettyDocument(pretty)).toBe(pretty);
});

test('what is no document is refused', () => {
  expect(() => prettyDocument('{ a')).toThrow('Expected Name');
  expect(() => prettyDocument('# only a comment')).toThrow();
});

test('JSON is put in the usual form, with its comments', () => {
  expect(prettyJson('{"a":[1,2], // why\n"b":{}}')).toBe('{\n  "a": [\n    1,\n    2\n  ], // why\n  "b": {}\n}');
  expect(prettyJson('')).toBe('');
  expect(() => prettyJson('{"a":')).toThrow('no JSON');
});
