// A program of the server as a module in a browser: it is fetched there, gives the published answers, and where it traps
// the error says which contract does not hold, or what trapped; then it goes on as before.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { Pages } from './pages.mjs';
import { connect } from './wasm_programs.mjs';

const CREATE = `mutation ($input: CreateProgramInput!) {
  createProgram(input: $input) { program { name } errors { code message } }
}`;

/** What traps in ways of our own. */
const TRAPS = `module traps

export "half" func half (n: i32) -> (i32) pure {
  require "n is even" = eqz.i32 (and.i32 n, 1)
  ensure "half of it is small" = lt_s.i32 result, 100
  return (div_s.i32 n, 2)
}

export "pick" func pick (index: i32) -> (i32) pure {
  return (array.get<i32> (array.new<i32> 10, 20, 30), index)
}
`;

/** Texts and what they come to, as the example says. */
function vectors(example) {
  const run = /^; run: sha256\("(?<text>[^"]*)"\) == "(?<digest>[0-9a-f]{64})"$/gm;
  const found = [...example.matchAll(run)].map(({ groups }) => [groups.text, groups.digest]);
  assert.ok(found.length >= 4, 'the examples that NIST publishes');
  return found;
}

/** Stands in the page: calls of what a module exports, in order, each by one instance; what they return, or how they trap. */
async function called({ program, calls }) {
  const answer = await fetch(`/programs/${program}/wasm`);
  const { instance } = await WebAssembly.instantiateStreaming(answer);
  const { lm_memory: memory, lm_new: make, lm_release: release } = instance.exports;
  const given = (value) => {
    if (typeof value !== 'string') return value;
    const bytes = new TextEncoder().encode(value);
    const made = make(bytes.length, 0, bytes.length);
    new Uint8Array(memory.buffer, made + 16).set(bytes);
    return made;
  };
  const text = (value) => {
    const length = new DataView(memory.buffer).getInt32(value + 12, true);
    const told = new TextDecoder().decode(new Uint8Array(memory.buffer, value + 16, length));
    release(value);
    return told;
  };
  return calls.map(([name, ...values]) => {
    try {
      const result = instance.exports[name](...values.map(given));
      return memory ? text(result) : result;
    } catch (error) {
      const frames = error.stack.split('\n').filter((line) => line.includes('wasm-function'));
      return { isTrap: error instanceof WebAssembly.RuntimeError, message: error.message, innermost: frames[0] ?? '' };
    }
  });
}

const server = process.argv[2];
const { data } = connect(server);
const example = readFileSync(new URL('../../examples/sha256.lm', import.meta.url), 'utf8');
const programs = {
  digests: example.replace(/^pub func (sha256|sha256_repeated) /gm, 'export "$1" pub func $1 '),
  traps: TRAPS,
};
for (const [name, text] of Object.entries(programs)) {
  const { createProgram } = await data(CREATE, { input: { name, text } });
  assert.deepEqual(createProgram.errors, []);
}

const pages = await Pages.open(server, 'wasm');
try {
  // A page of the server's own origin, but for the policy of the dashboard, which keeps modules out.
  const page = await pages.page('/', { bypassCSP: true });
  const inPage = (program, calls) => page.evaluate(called, { program, calls });

  const known = vectors(example);
  const digests = await inPage('digests', known.map(([text]) => ['sha256', text]));
  assert.deepEqual(digests, known.map(([, digest]) => digest));

  // What is too long for it breaks a contract; the instance is as good as before.
  const [text, digest] = known.at(-1);
  const [broken, after] = await inPage('digests', [['sha256_repeated', '0123456789', 7000], ['sha256', text]]);
  assert.ok(broken.isTrap, JSON.stringify(broken));
  assert.match(broken.innermost, /require `the message fits into memory` of sha256::\w+ does not hold/);
  assert.equal(after, digest);

  const [half, odd, large, again, second, outside] = await inPage('traps', [
    ['half', 42], ['half', 41], ['half', 400], ['half', -1], ['pick', 1], ['pick', 3],
  ]);
  assert.deepEqual([half, second], [21, 20]);
  for (const [trap, says] of [
    [odd, 'require `n is even` of traps::half does not hold'],
    [large, 'ensure `half of it is small` of traps::half does not hold'],
    [again, 'require `n is even` of traps::half does not hold'],
    [outside, 'lm_at'],
  ]) {
    assert.ok(trap.isTrap && trap.innermost.includes(says), `${says}: ${JSON.stringify(trap)}`);
  }
  pages.finish();
} finally {
  await pages.close();
}
console.log(`${Object.keys(programs).length} programs as modules in Chromium`);
