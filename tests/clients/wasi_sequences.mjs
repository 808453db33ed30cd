// Sequences of calls of WASI, drawn from a seed: a run here answers as Node does, and leaves the same files behind.
import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WASI } from 'node:wasi';

import { asInput, contentOf, withFolder } from './wasi_folder.mjs';

const FILES = { a: null, 'a/b': 'some text', c: 'another one', d: null };
// The last one is for who only looks: Node asks the system for the folder by its name, and not as `.`.
const PATHS = ['a', 'b', 'c', 'd', 'a/b', 'a/c', 'd/a', 'd/a/b', './c', 'c/x', 'e', 'a/b/c', '.'];
const SEQUENCES = 40;
const CALLS = 60;

/** Rights on files that are opened, and on folders, which Node opens only to be read. */
const ALL = (1n << 27n) - 1n;
const FOLDER = ALL & ~((1n << 0n) | (1n << 6n) | (1n << 8n) | (1n << 22n));
const [CREATE, DIRECTORY, NEW, EMPTY] = [1, 2, 4, 8];
const [IS_FOLDER, NOT_CAPABLE] = [31, 76];

/** Where the module has its paths, what a call is answered with, and what has been told. */
const [PATHS_AT, ANSWER, BUFFER, LIST, LOG] = [1_024, 512, 640, 600, 4_096];

const IMPORTS = {
  path_create_directory: 'i32 i32 i32',
  path_remove_directory: 'i32 i32 i32',
  path_unlink_file: 'i32 i32 i32',
  path_rename: 'i32 i32 i32 i32 i32 i32',
  path_open: 'i32 i32 i32 i32 i32 i64 i64 i32 i32',
  path_filestat_get: 'i32 i32 i32 i32 i32',
  fd_write: 'i32 i32 i32 i32',
  fd_pwrite: 'i32 i32 i32 i64 i32',
  fd_read: 'i32 i32 i32 i32',
  fd_pread: 'i32 i32 i32 i64 i32',
  fd_seek: 'i32 i64 i32 i32',
  fd_tell: 'i32 i32',
  fd_filestat_get: 'i32 i32',
  fd_filestat_set_size: 'i32 i64',
  fd_fdstat_set_flags: 'i32 i32',
  fd_sync: 'i32',
  fd_close: 'i32',
  fd_renumber: 'i32 i32',
};

export async function sequences(server) {
  for (let seed = 1; seed <= SEQUENCES; seed += 1) await sequence(server, seed);
  console.log(`${SEQUENCES} sequences of ${CALLS} calls of WASI: the same here and under Node`);
}

async function sequence(server, seed) {
  const name = `sequence-${seed}`;
  const calls = drawn(seed);
  const created = await server.data(
    'mutation ($input: CreateProgramInput!) { createProgram(input: $input) { errors { message } } }',
    { input: { name, wat: moduleOf(calls) } },
  );
  assert.deepEqual(created.createProgram.errors, []);
  const module = await WebAssembly.compile(await server.exportModule(name));
  const input = (tier) => ({ args: [], files: asInput(FILES), recordTrace: 'NONE', tier });
  const answer = await server.data(
    `query ($name: String!, $interpreted: SimulateInput!, $compiled: SimulateInput!) {
      program(name: $name) { function(name: "run") {
        interpreted: simulate(input: $interpreted) { ...of }
        compiled: simulate(input: $compiled) { ...of }
      } }
    }
    fragment of on SimulationResult {
      tier outcome { __typename } steps fuelUsed stdoutBase64 files { path removed base64 }
    }`,
    { name, interpreted: input('INTERPRETER'), compiled: input('COMPILED') },
  );
  const { interpreted, compiled } = answer.program.function;
  assert.deepEqual(compiled, { ...interpreted, tier: 'COMPILED' }, `seed ${seed}`);
  const { outcome, stdoutBase64, files } = interpreted;
  assert.equal(outcome.__typename, 'Returned');

  const there = await withFolder({}, (outside) => withFolder(FILES, async (folder) => {
    const before = contentOf(folder);
    const stdout = openSync(join(outside, 'stdout'), 'w');
    const wasi = new WASI({ version: 'preview1', preopens: { '/': folder }, stdout });
    wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
    closeSync(stdout);
    return { told: readFileSync(join(outside, 'stdout')), before, after: contentOf(folder) };
  }));

  const told = (bytes) => [...bytes].slice(0, calls.length * 4);
  const [mine, nodes] = [told(Buffer.from(stdoutBase64, 'base64')), told(there.told)];
  // A folder that is read or written as a file is one for us, as in POSIX; for Node its handle lacks the right.
  calls.forEach(({ says }, index) => {
    if (says.startsWith('fd_') && nodes[4 * index] === NOT_CAPABLE && mine[4 * index] === IS_FOLDER) {
      nodes[4 * index] = IS_FOLDER;
    }
  });
  const at = mine.findIndex((byte, index) => byte !== nodes[index]) >> 2;
  const shown = calls.slice(0, at + 1).map((call, index) => `${call.says} = ${mine[4 * index]}`);
  const both = `here ${mine.slice(4 * at, 4 * at + 4)}, Node ${nodes.slice(4 * at, 4 * at + 4)}`;
  assert.deepEqual(mine, nodes, `seed ${seed}: ${both}\n${shown.join('\n')}`);
  const after = { ...there.before };
  for (const { path, removed, base64 } of files) {
    if (removed) delete after[path];
    else after[path] = base64;
  }
  assert.deepEqual(after, there.after, `seed ${seed}`);
}

/** Some calls, each with words for it, its code and what of the answer counts. */
function drawn(seed) {
  let state = BigInt(seed) * 0x9e3779b97f4a7c15n;
  const below = (most) => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number((state >> 33n) % BigInt(most));
  };
  const one = (of) => of[below(of.length)];
  const path = () => below(PATHS.length);
  const name = () => below(PATHS.length - 1);
  const handle = () => 4 + below(4);
  const at = (index) => `(i32.const ${place(index)}) (i32.const ${PATHS[index].length})`;
  const bytes = () => `(call $buffer (i32.const ${1 + below(9)}))`;
  const root = '(i32.const 3)';
  const kinds = {
    path_create_directory: (p = name()) => [PATHS[p], `${root} ${at(p)}`],
    path_remove_directory: (p = name()) => [PATHS[p], `${root} ${at(p)}`],
    path_unlink_file: (p = name()) => [PATHS[p], `${root} ${at(p)}`],
    path_rename: (p = name(), q = name()) => [`${PATHS[p]}, ${PATHS[q]}`, `${root} ${at(p)} ${root} ${at(q)}`],
    path_open: (p = path(), flags = one([0, CREATE, CREATE, CREATE | NEW, CREATE | EMPTY, EMPTY, DIRECTORY])) => {
      const rights = flags === DIRECTORY ? FOLDER : ALL;
      const asked = `(i64.const ${rights}) (i64.const ${rights}) (i32.const ${one([0, 0, 1])})`;
      const code = `${root} (i32.const 0) ${at(p)} (i32.const ${flags}) ${asked} (i32.const ${ANSWER})`;
      return [`${PATHS[p]}, flags ${flags}`, code, `(i32.load (i32.const ${ANSWER}))`];
    },
    path_filestat_get: (p = path()) => [
      PATHS[p], `${root} (i32.const 0) ${at(p)} (i32.const ${ANSWER})`, stat,
    ],
    fd_write: (h = handle()) => [h, `(i32.const ${h}) ${bytes()} (i32.const 1) (i32.const ${ANSWER})`, number],
    fd_pwrite: (h = handle(), by = below(20)) => [
      `${h}, at ${by}`, `(i32.const ${h}) ${bytes()} (i32.const 1) (i64.const ${by}) (i32.const ${ANSWER})`, number,
    ],
    fd_read: (h = handle()) => [h, `(i32.const ${h}) ${bytes()} (i32.const 1) (i32.const ${ANSWER})`, read],
    fd_pread: (h = handle(), by = below(20)) => [
      `${h}, at ${by}`, `(i32.const ${h}) ${bytes()} (i32.const 1) (i64.const ${by}) (i32.const ${ANSWER})`, read,
    ],
    fd_seek: (h = handle(), by = below(40) - 20, from = below(3)) => [
      `${h}, ${by} from ${from}`,
      `(i32.const ${h}) (i64.const ${by}) (i32.const ${from}) (i32.const ${ANSWER})`, number,
    ],
    fd_tell: (h = handle()) => [h, `(i32.const ${h}) (i32.const ${ANSWER})`, number],
    fd_filestat_get: (h = handle()) => [h, `(i32.const ${h}) (i32.const ${ANSWER})`, stat],
    fd_filestat_set_size: (h = handle(), size = below(30)) => [
      `${h}, ${size}`, `(i32.const ${h}) (i64.const ${size})`,
    ],
    fd_fdstat_set_flags: (h = handle(), flags = below(2)) => [`${h}, ${flags}`, `(i32.const ${h}) (i32.const ${flags})`],
    fd_sync: (h = handle()) => [h, `(i32.const ${h})`],
    fd_close: (h = handle()) => [h, `(i32.const ${h})`],
    // Of a handle to itself Node does not ask whether it is open.
    fd_renumber: (h = handle(), to = 4 + ((h - 3) % 4)) => [`${h}, ${to}`, `(i32.const ${h}) (i32.const ${to})`],
  };
  const all = Object.keys(kinds);
  return Array.from({ length: CALLS }, () => {
    // Most calls are about handles: more of them have to be open.
    const kind = below(4) === 0 ? 'path_open' : one(all);
    const [says, code, counts = '(i32.const 0)'] = kinds[kind]();
    return { says: `${kind}(${says})`, code: `(call $told (call $${kind} ${code}))`, counts };
  });
}

/** What of an answer counts: a number; what was read; the kind of a file, and its length. */
const number = `(i32.load (i32.const ${ANSWER}))`;
const read = `(i32.add (i32.load (i32.const ${ANSWER})) (i32.shl (i32.load8_u (i32.const ${BUFFER})) (i32.const 8)))`;
const kind = `(i32.load8_u (i32.const ${ANSWER + 16}))`;
const length = `(select (i32.load (i32.const ${ANSWER + 32})) (i32.const 0) (i32.eq ${kind} (i32.const 4)))`;
const stat = `(i32.add ${length} (i32.shl ${kind} (i32.const 8)))`;

function place(index) {
  return PATHS_AT + 16 * index;
}

function moduleOf(calls) {
  const imports = Object.entries(IMPORTS).map(
    ([name, params]) =>
      `(import "wasi_snapshot_preview1" "${name}" (func $${name} (param ${params}) (result i32)))`,
  );
  const data = PATHS.map((path, index) => `(data (i32.const ${place(index)}) "${path}")`);
  // What a refused call leaves of the answer does not count.
  const body = calls.map(
    ({ code, counts }) => `(memory.fill (i32.const ${ANSWER}) (i32.const 0) (i32.const 72))
    (if (i32.eqz ${code}) (then (call $more ${counts})))
    (global.set $at (i32.add (global.get $at) (i32.const 4)))`,
  );
  return `(module ${imports.join('\n')}
  (memory (export "memory") 1)
  (global $at (mut i32) (i32.const ${LOG}))
  (data (i32.const ${BUFFER + 16}) "0123456789")
  ${data.join('\n')}
  (func $told (param $errno i32) (result i32)
    (i32.store8 (global.get $at) (local.get $errno))
    (local.get $errno))
  (func $more (param $what i32)
    (i32.store16 offset=1 (global.get $at) (local.get $what)))
  (func $buffer (param $length i32) (result i32)
    (memory.copy (i32.const ${BUFFER}) (i32.const ${BUFFER + 16}) (i32.const 10))
    (i32.store (i32.const ${LIST}) (i32.const ${BUFFER}))
    (i32.store (i32.const ${LIST + 4}) (local.get $length))
    (i32.const ${LIST}))
  (func $run (export "_start")
    ${body.join('\n    ')}
    (i32.store (i32.const ${LIST}) (i32.const ${LOG}))
    (i32.store (i32.const ${LIST + 4}) (i32.sub (global.get $at) (i32.const ${LOG})))
    (drop (call $fd_write (i32.const 1) (i32.const ${LIST}) (i32.const 1) (i32.const ${ANSWER})))))`;
}
