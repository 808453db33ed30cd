// Operators on files give the same numbers in a run here and in an exported module under Node.
import assert from 'node:assert/strict';
import { WASI } from 'node:wasi';

import { asInput, withFolder } from './wasi_folder.mjs';

const TEXT = `
module operators

export "opened" func opened (path: string, write: bool) -> (i32) {
  file = file.open path, write
  return file
}

export "written" func written (handle: i32) -> (i32) {
  count = file.write handle, b"x"
  return count
}

export "length" func length (handle: i32) -> (i32) {
  bytes = file.read handle, 10
  return (bytes.len bytes)
}

export "misused" func misused () -> (i32, i32, i32) {
  in = file.open "a.txt", false
  out = file.open "new.txt", true
  read = file.read out, 10
  written = file.write in, b"x"
  file.close in
  again = file.write in, b"x"
  return (bytes.len read), written, again
}
`;

const FILES = { 'a.txt': 'abc', 'dir/b.txt': 'b', empty: null };

const PATHS = [
  'a.txt', './a.txt', '/a.txt', 'dir/../a.txt', 'none/../a.txt', 'a.txt/', 'none', 'none/x', 'dir', 'dir/', 'empty',
  'dir/b.txt', 'dir//b.txt', 'a.txt/below', 'empty/new', '..', '../a.txt', 'dir/../../a.txt', '.', '/', '', 'a\0b',
  'x'.repeat(255), 'x'.repeat(256), 'y/'.repeat(3_000), `${'./'.repeat(2_000)}a.txt`,
];

export async function operators(server) {
  const created = await server.data(
    'mutation ($text: String!) { createProgram(input: {name: "operators", text: $text}) { errors { message } } }',
    { text: TEXT },
  );
  assert.deepEqual(created.createProgram.errors, []);
  const module = await WebAssembly.compile(await server.exportModule('operators'));

  /** What a function returns here and there, each with the same files. */
  async function both(name, args) {
    const answer = await server.data(
      `query ($name: String!, $input: SimulateInput!) { program(name: "operators") { function(name: $name) {
        simulate(input: $input) { outcome { ... on Returned { values } } } } } }`,
      { name, input: { args, files: asInput(FILES), recordTrace: 'NONE' } },
    );
    const here = answer.program.function.simulate.outcome.values.map((value) => Number(value.replace('i32:', '')));
    const there = await withFolder(FILES, async (folder) => {
      const wasi = new WASI({ version: 'preview1', preopens: { '/': folder } });
      const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
      // Node finds the memory that it works on under this name.
      wasi.initialize({ exports: { memory: instance.exports.memory } });
      const given = args.map((arg) => (typeof arg === 'string' ? text(instance, arg) : Number(arg)));
      return [instance.exports[name](...given)].flat();
    });
    assert.deepEqual(there, here, `${name}(${JSON.stringify(args).slice(0, 60)})`);
    return here;
  }

  for (const path of PATHS) {
    for (const write of [false, true]) await both('opened', [path, write]);
  }
  // 1 and 2 are written to, which is no error.
  for (const handle of [-1, 0, 3, 4, 99]) {
    assert.deepEqual(await both('written', [handle]), [-8]);
    if (handle !== 0) assert.deepEqual(await both('length', [handle]), [0]);
  }
  assert.deepEqual(await both('misused', []), [0, -8, -8]);
  console.log(`operators on files: ${PATHS.length} paths, the same numbers here and under Node`);
}

/** A text in the heap of an instance. */
function text({ exports }, string) {
  const bytes = new TextEncoder().encode(string);
  const value = exports.lm_new(bytes.length, 0, bytes.length);
  new Uint8Array(exports.lm_memory.buffer, value + 16).set(bytes);
  return value;
}
