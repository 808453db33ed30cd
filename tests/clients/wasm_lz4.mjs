// The module of lz4-wasm-nodejs, which takes a function of its JavaScript and manages memory.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { milliseconds } from './wasm_programs.mjs';

const require = createRequire(import.meta.url);
const MODULE = 'lz4_wasm_nodejs_bg.wasm';

/** Text that can be compressed, for 100 kB, and behind it noise that cannot. */
function sample() {
  const words = ['tea', 'milk', 'bread', 'the', 'price', 'of', 'sold', 'in', 'cash'];
  let [state, text] = [1, ''];
  const next = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 16;
  while (text.length < 90_000) text += `${words[next() % words.length]} `;
  return Buffer.concat([Buffer.from(text), Buffer.from(Array.from({ length: 10_000 }, () => next() & 255))]);
}

/** The package with another module in it. */
function packageWith(bytes, folder) {
  cpSync(dirname(require.resolve('lz4-wasm-nodejs')), folder, { recursive: true });
  writeFileSync(join(folder, MODULE), bytes);
  return require(folder);
}

/** Compresses and decompresses with the original and with what is exported. */
export async function lz4({ thereAndBack }) {
  const original = require('lz4-wasm-nodejs');
  const module = readFileSync(require.resolve(`lz4-wasm-nodejs/${MODULE}`));
  const { bytes, says } = await thereAndBack('lz4', module);
  console.log(`lz4: ${says}`);

  const folder = mkdtempSync(join(tmpdir(), 'lmlang-lz4-'));
  try {
    const exported = packageWith(bytes, folder);
    const message = sample();
    const began = performance.now();
    const compressed = exported.compress(message);
    const back = exported.decompress(compressed);
    const ms = performance.now() - began;
    assert.ok(message.equals(back), 'the same comes back');
    assert.ok(Buffer.from(compressed).equals(original.compress(message)), 'both compress alike');
    assert.ok(message.equals(original.decompress(compressed)), 'the original understands it');
    assert.ok(compressed.length < message.length * 0.6, `${compressed.length} bytes`);
    // An error of the module is a text that it hands to JavaScript.
    const broken = Buffer.from(compressed).fill(255, 4, 64);
    const why = (decompress) => {
      try {
        return decompress(broken).length;
      } catch (error) {
        return String(error);
      }
    };
    assert.equal(why(exported.decompress), why(original.decompress));
    const sizes = `${message.length} bytes are ${compressed.length} as by the original, and come back`;
    console.log(`lz4: ${sizes}, in ${milliseconds(ms)}; of broken ones both say "${why(original.decompress)}"`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
