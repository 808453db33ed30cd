// The module of wasmoon, Lua 5.4 in WebAssembly: it runs scripts in Node as before, and in a simulation.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { milliseconds } from './wasm_programs.mjs';

const require = createRequire(import.meta.url);
/** What the program is called. */
export const LUA = 'lua';
const RUN = 'lua-run';

const SCRIPT = `
local out = {}
local function say(...) out[#out + 1] = table.concat({...}, " ") end
say(string.format("%5.2f|%-6s|%06d|%x|%q", math.pi, "tea", 42, 255, "a\\nb"))
local shop, names = { tea = 250, milk = 120, bread = 340 }, {}
for name in pairs(shop) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do say(name, shop[name]) end
local function counter(step)
  local n = 0
  return function() n = n + step; return n end
end
local twos, threes = counter(2), counter(3)
for _ = 1, 4 do twos(); threes() end
say(twos(), threes())
local fine, why = pcall(function() error({ code = 7 }) end)
say(tostring(fine), why.code)
fine, why = pcall(function() local none; return none.field end)
say(tostring(fine), why)
say((string.rep("ab", 5, "-"):gsub("b", { b = "[b]" })))
say((("the cat sat"):gsub("(%w+)", function(word) return word:upper() .. #word end)))
local numbers, seed = {}, 42
for at = 1, 1000 do
  seed = (seed * 1103515245 + 12345) % 2147483648
  numbers[at] = seed
end
table.sort(numbers, function(a, b) return a > b end)
for at = 2, #numbers do assert(numbers[at - 1] >= numbers[at]) end
say(#numbers, numbers[1], numbers[500], numbers[1000])
say(2 ^ 53, 7 // 2, -7 % 3, 1 / 3, 0x7fffffffffffffff + 1, 10 | 5)
local squares = coroutine.wrap(function() for at = 1, 3 do coroutine.yield(at * at) end end)
say(squares(), squares(), squares())
return table.concat(out, "\\n")
`;

/** Runs a script with a module, that of the package without one. */
export async function run(script, bytes) {
  const { LuaFactory } = require('wasmoon');
  const folder = mkdtempSync(join(tmpdir(), 'lmlang-lua-'));
  const file = join(folder, 'glue.wasm');
  try {
    if (bytes) writeFileSync(file, bytes);
    const engine = await new LuaFactory(bytes && file).createEngine();
    const answer = await engine.doString(script);
    engine.global.close();
    return answer;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a script with the original and with what is exported. */
export async function lua({ thereAndBack }) {
  const module = readFileSync(join(require.resolve('wasmoon'), '../glue.wasm'));
  const { bytes, says } = await thereAndBack(LUA, module);
  console.log(`lua: ${says}`);
  const answer = await run(SCRIPT);
  assert.match(answer, /^ 3\.14\|tea {3}\|000042\|ff\|/);
  const began = performance.now();
  assert.equal(await run(SCRIPT, bytes), answer);
  const lines = answer.split('\n').length;
  const ms = milliseconds(performance.now() - began);
  console.log(`lua: a script says the same ${lines} lines with what is exported, in ${ms}`);
}

/** It makes no error on purpose: those leave by an exception of JavaScript. */
const SIEVE = `
local function primes(below)
  local is, count = {}, 0
  for at = 2, below do is[at] = true end
  for at = 2, below do
    if is[at] then
      count = count + 1
      for more = at * at, below, at do is[more] = false end
    end
  end
  return count
end
local words = {}
for word in ("the cat sat on the mat"):gmatch("%a+") do words[#words + 1] = word end
table.sort(words)
return primes(20000) .. " " .. table.concat(words, ",") .. (" %.3f"):format(math.sin(1))
`;

/** What the module wants of a host before a script returns, as functions of the program. */
const HOST = {
  emscripten_date_now: `func emscripten_date_now () -> (f64) {
  return 0.0
}`,
  environ_sizes_get: `func environ_sizes_get (p0: i32, p1: i32) -> (i32) {
  store.i32 p0, 0
  store.i32 p1, 0
  return 0
}`,
  environ_get: `func environ_get (p0: i32, p1: i32) -> (i32) {
  return 0
}`,
  invoke_vii: `func invoke_vii (p0: i32, p1: i32, p2: i32) -> () {
  call_indirect __indirect_function_table<(i32, i32) -> ()> p0, p1, p2
  return
}`,
};

/** How many words of its answer a script gives at most. */
const WORDS = 8;
const DRIVER = `
data script hex"${Buffer.from(SIEVE).toString('hex')}"

; Runs the script; whether that failed, and the length and the first bytes of the text that it returns.
export "lua_run" func lua_run () -> (i32, i32, ${Array(WORDS).fill('i64').join(', ')}) {
  call __wasm_call_ctors()
  state = call luaL_newstate()
  call luaL_openlibs(state)
  buffer = call malloc(${SIEVE.length + 8 * WORDS})
  memory.init script buffer, 0, ${SIEVE.length}
  loaded = call luaL_loadbufferx(state, buffer, ${SIEVE.length}, 0, 0)
  done = call lua_pcallk(state, 0, 1, 0, 0, 0)
  text = call lua_tolstring(state, -1, buffer)
  return (or.i32 loaded, done), (load.i32 buffer), ${Array.from(
    { length: WORDS },
    (_, at) => `(load.i64 offset=${8 * at} text)`,
  ).join(', ')}
}
`;

/** The text that the driver answers with; words are numbers. */
function textOf([failed, length, ...words]) {
  assert.equal(Number(failed), 0);
  const bytes = Buffer.alloc(8 * WORDS);
  words.forEach((word, at) => bytes.writeBigInt64LE(BigInt(word), 8 * at));
  return bytes.toString('utf8', 0, Number(length));
}

/** Runs a script in both tiers, by functions that stand for the host and one that calls Lua as C does. */
export async function simulated({ data, exportModule, edit, simulate }) {
  const fork = `mutation { createProgram(input: { name: "${RUN}", forkOf: "${LUA}" }) { errors { message } } }`;
  assert.deepEqual((await data(fork)).createProgram.errors, []);
  const host = Object.entries(HOST).map(([ref, text]) => ({ replaceFunctionText: { ref, text } }));
  await edit(RUN, [...host, { addText: { module: 'main', text: DRIVER } }]);
  const answer = await run(SIEVE);
  const began = performance.now();
  const { values, says } = await simulate(RUN, 'lua_run', []);
  const ms = milliseconds(performance.now() - began);
  assert.equal(textOf(values.map((value) => value.split(':')[1])), answer);
  console.log(`lua: simulated, a script returns "${answer}" as in Node: ${says}, all in all ${ms}`);

  const module = new WebAssembly.Module(await exportModule(RUN));
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    assert.ok(!(name in HOST), name);
    imports[from] = { ...imports[from], [name]: () => assert.fail(`${name} is called`) };
  }
  const { lua_run } = new WebAssembly.Instance(module, imports).exports;
  assert.equal(textOf(lua_run()), answer);
  console.log('lua: exported with all that, it returns the same in Node');
}
