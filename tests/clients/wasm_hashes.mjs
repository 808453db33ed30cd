// The modules of hash-wasm and xxhash-wasm: each is asked by a function that an edit adds to it, and in Node by the
// JavaScript of its package, once it has gone through a program.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { instantiate } from './wasm_programs.mjs';

const require = createRequire(import.meta.url);

/** Beside the bounds of blocks, and the check value of CRC-32; the longest is hashed in a hundred pieces. */
const LENGTHS = [0, 3, 9, 56, 64, 200, 100_000];
/** What messages repeat. It begins with the digits that CRC-32 is checked with. */
const PATTERN = Buffer.alloc(1000, '123456789');
for (let at = 9; at < PATTERN.length; at += 1) PATTERN[at] = (at * at * 7 + at) % 251;

const node = (name) => (message) => createHash(name).update(message).digest('hex');

/** Each with what its `Hash_Init` takes, how long its digest is, and who else knows it. */
const HASHES = [
  { name: 'crc32', init: '0xedb88320', bytes: 4, other: crc32 },
  { name: 'md5', init: '', bytes: 16, other: node('md5') },
  { name: 'sha1', init: '', bytes: 20, other: node('sha1') },
  { name: 'sha256', init: '256', bytes: 32, other: node('sha256') },
  { name: 'sha512', init: '512', bytes: 64, other: node('sha512') },
  { name: 'blake2b', init: '512', bytes: 64, other: node('blake2b512') },
  { name: 'blake2s', init: '256', bytes: 32, other: node('blake2s256') },
];

/** CRC-32 bit by bit: not every Node has one. */
function crc32(message) {
  let rest = -1;
  for (const byte of message) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit += 1) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  }
  return (~rest >>> 0).toString(16).padStart(8, '0');
}

const messageOf = (length) => Buffer.alloc(length, PATTERN);

/** What an agent adds to such a module: it feeds the pattern piece by piece and loads the digest in words. */
function driver({ init, bytes }) {
  const words = Array.from({ length: bytes >> 3 }, (_, at) => `(load.i64 offset=${8 * at} buffer)`);
  const types = words.map(() => 'i64');
  if (bytes % 8 === 4) {
    words.push(`(load.i32 offset=${bytes - 4} buffer)`);
    types.push('i32');
  }
  return `
data pattern hex"${PATTERN.toString('hex')}"

; The digest of so many bytes of the pattern, over and over.
export "digest" func digest (length: i32) -> (${types.join(', ')}) {
  buffer = call Hash_GetBuffer()
  call Hash_Init(${init})
  loop L (left: i32 = length) {
    break_if L (eqz.i32 left)
    count = select<i32> (lt_u.i32 left, ${PATTERN.length}), left, ${PATTERN.length}
    memory.init pattern buffer, 0, count
    call Hash_Update(count)
    continue L (sub.i32 left, count)
  }
  call Hash_Final()
  return ${words.join(', ')}
}
`;
}

/** The bytes of words as a run answers them, `i64:-5`. */
function hexOf(values) {
  const words = values.map((value) => {
    const [type, word] = value.split(':');
    const bytes = Buffer.alloc(type === 'i64' ? 8 : 4);
    if (type === 'i64') bytes.writeBigInt64LE(BigInt(word));
    else bytes.writeInt32LE(Number(word));
    return bytes;
  });
  return Buffer.concat(words).toString('hex');
}

/** The bundle of one hash: the module in it, and its JavaScript around another one. */
function bundleOf(name) {
  const script = readFileSync(require.resolve(`hash-wasm/dist/${name}.umd.min.js`), 'utf8');
  const found = [...script.matchAll(/data:"(AGFzbQ[^"]+)"/g)];
  assert.equal(found.length, 1, `${name}: ${found.length} modules`);
  const around = (bytes) => {
    const module = { exports: {} };
    const changed = script.replace(found[0][1], bytes.toString('base64'));
    new Function('module', 'exports', changed)(module, module.exports);
    return module.exports[name];
  };
  return { module: Buffer.from(found[0][1], 'base64'), around };
}

/** Hashes with each module in both tiers and in Node. */
export async function hashes({ thereAndBack, exportModule, edit, simulate }) {
  assert.equal(crc32('123456789'.split('').map((digit) => digit.charCodeAt(0))), 'cbf43926');
  for (const hash of HASHES) {
    const { module, around } = bundleOf(hash.name);
    const program = `hash-${hash.name}`;
    const { bytes, says } = await thereAndBack(program, module);
    console.log(`${hash.name}: ${says}`);

    await edit(program, [{ addText: { module: 'main', text: driver(hash) } }]);
    let longest;
    for (const length of LENGTHS) {
      longest = await simulate(program, 'digest', [length]);
      assert.equal(hexOf(longest.values), hash.other(messageOf(length)), `${hash.name} of ${length} bytes`);
    }
    const of = `that of ${LENGTHS.at(-1)} bytes took ${longest.says}`;
    console.log(`${hash.name}: ${LENGTHS.length} digests are right, ${of}`);

    // The same module again, and with the driver: the JavaScript of the package knows no difference.
    const driven = await exportModule(program);
    assert.deepEqual(await exportModule(program, '?at=r1'), bytes);
    for (const exported of [bytes, driven]) {
      const digest = around(exported);
      for (const length of LENGTHS) assert.equal(await digest(messageOf(length)), hash.other(messageOf(length)));
    }
    const { digest } = await instantiate(driven);
    for (const length of LENGTHS) {
      const words = [digest(length)].flat().map((word) => `${typeof word === 'bigint' ? 'i64' : 'i32'}:${word}`);
      assert.equal(hexOf(words), hash.other(messageOf(length)));
    }
    console.log(`${hash.name}: exported, it hashes the same in Node, and with its driver (${driven.length} bytes)`);
  }
}

const PRIME32 = 2654435761n;
const PRIME64 = 11400714785074694797n;
/** The bytes that xxHash checks itself with. */
const SANITY = Buffer.alloc(222);
for (let at = 0, word = PRIME32; at < SANITY.length; at += 1, word = BigInt.asUintN(64, word * PRIME64)) {
  SANITY[at] = Number(word >> 56n);
}
/** The vectors of xxHash 0.8 over the first bytes of these: length, seed, XXH32, XXH64. */
const VECTORS = [
  [0, 0n, '02cc5d05', 'ef46db3751d8e999'],
  [0, PRIME32, '36b78ae7', 'ac75fda2929b17ef'],
  [1, 0n, 'cf65b03e', 'e934a84adb052768'],
  [1, PRIME32, 'b4545aa4', '5014607643a9b4c3'],
  [14, 0n, '1208e7e2', '8282dcc4994e35c8'],
  [14, PRIME32, '6af1d1fe', 'c3bd6bf63deb6df0'],
  [222, 0n, '5bd11dbd', 'b641ae8cb691c174'],
  [222, PRIME32, '58803c5f', '20cb8ab7ae10c14a'],
];
/** Texts that many implementations of XXH64 are checked with. */
const TEXTS = [
  ['a', 'd24ec4f1a98c6e5b'],
  ['as', '1c330fb2d66be179'],
  ['asd', '631c37ce72a97393'],
  ['asdf', '415872f599cea71e'],
  ['Call me Ishmael. Some years ago--never mind how long precisely-', '02a2e85470d6fd96'],
];
const XXH_DRIVER = `
data sanity hex"${SANITY.toString('hex')}"

; Both hashes of the first bytes.
export "both" func both (length: i32, seed: i64) -> (i32, i64) {
  memory.init sanity 0, 0, length
  short = call xxh32(0, length, (wrap.i64.i32 seed))
  return short, (call xxh64(0, length, seed))
}
`;

/** Hashes with the module of xxhash-wasm in both tiers and in Node. */
export async function xxhash({ thereAndBack, exportModule, edit, simulate }) {
  const script = readFileSync(join(require.resolve('xxhash-wasm'), '../../esm/xxhash-wasm.js'), 'utf8');
  const [array, numbers] = script.match(/new Uint8Array\(\[([\d,]+)\]\)/);
  const { bytes, says } = await thereAndBack('xxhash', Buffer.from(numbers.split(',').map(Number)));
  console.log(`xxhash: ${says}`);

  const around = async (exported) => {
    const changed = script.replace(array, `new Uint8Array([${[...exported]}])`);
    const url = `data:text/javascript;base64,${Buffer.from(changed).toString('base64')}`;
    return await (await import(url)).default();
  };
  await edit('xxhash', [{ addText: { module: 'main', text: XXH_DRIVER } }]);
  let last;
  for (const [length, seed, short, long] of VECTORS) {
    last = await simulate('xxhash', 'both', [length, String(BigInt.asIntN(64, seed))]);
    const [given32, given64] = last.values.map((value) => BigInt(value.split(':')[1]));
    assert.equal(BigInt.asUintN(32, given32).toString(16).padStart(8, '0'), short);
    assert.equal(BigInt.asUintN(64, given64).toString(16).padStart(16, '0'), long);
  }
  console.log(`xxhash: ${VECTORS.length} vectors of XXH32 and XXH64 each, the last took ${last.says}`);

  for (const exported of [bytes, await exportModule('xxhash')]) {
    const { h32Raw, h64Raw, h64ToString, create64 } = await around(exported);
    for (const [length, seed, short, long] of VECTORS) {
      const message = SANITY.subarray(0, length);
      assert.equal(h32Raw(message, Number(seed)), parseInt(short, 16));
      assert.equal(h64Raw(message, seed), BigInt(`0x${long}`));
      const pieces = [message.subarray(0, length >> 1), message.subarray(length >> 1)];
      const stream = pieces.reduce((stream, piece) => stream.update(piece), create64(seed));
      assert.equal(stream.digest(), BigInt(`0x${long}`));
    }
    for (const [text, long] of TEXTS) assert.equal(h64ToString(text), long);
  }
  console.log(`xxhash: exported, it gives the same and ${TEXTS.length} known texts in Node, whole and in pieces`);
}
