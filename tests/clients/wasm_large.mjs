// A large program, that of Lua: all of it is read page by page, a constant is edited, and undone.
import assert from 'node:assert/strict';

import { LUA, run } from './wasm_lua.mjs';
import { milliseconds } from './wasm_programs.mjs';

/** The least nodes that a large program has. */
const LARGE = 100_000;
const PI = 3.141592653589793;

const FUNCTIONS = `query ($program: String!, $after: String) {
  program(name: $program) {
    functions(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { ref nodes(first: 500) { pageInfo { hasNextPage endCursor } nodes { ref op } } }
    }
  }
}`;
const NODES = `query ($program: String!, $function: String!, $after: String) {
  program(name: $program) {
    function(ref: $function) {
      nodes(first: 1000, after: $after) { pageInfo { hasNextPage endCursor } nodes { ref op } }
    }
  }
}`;

/** Reads all functions and nodes of a program page by page. */
async function readAll(data, program) {
  const [functions, nodes] = [new Set(), new Set()];
  let requests = 0;
  const take = (page) => page.nodes.forEach(({ ref }) => nodes.add(ref));
  for (let page = { hasNextPage: true, endCursor: null }; page.hasNextPage; ) {
    const answer = (await data(FUNCTIONS, { program, after: page.endCursor })).program.functions;
    requests += 1;
    for (const { ref, nodes: first } of answer.nodes) {
      functions.add(ref);
      take(first);
      for (let rest = first.pageInfo; rest.hasNextPage; requests += 1) {
        const more = (await data(NODES, { program, function: ref, after: rest.endCursor })).program.function.nodes;
        take(more);
        rest = more.pageInfo;
      }
    }
    page = answer.pageInfo;
  }
  return { functions: functions.size, nodes: nodes.size, requests };
}

const FIND = `query ($program: String!, $value: Value!) {
  program(name: $program) {
    stats { functions nodes }
    search(filter: { constant: $value, function: "luaopen_math" }) { totalCount nodes { ref op } }
    function(name: "luaopen_math") { wat }
  }
}`;
const VERIFY = `query ($program: String!) {
  program(name: $program) {
    verify(scope: FULL) { valid complete checkedFunctions truncated errors { code } }
  }
}`;
const UNDO = `mutation ($program: ID!) {
  undo(input: { programId: $program }) { outcome { __typename ... on RevisionMade { committed } } }
}`;

/** Asks whether anything is wrong with a program, and gives the milliseconds that it took. */
async function verified(data, functions) {
  const began = performance.now();
  const { verify } = (await data(VERIFY, { program: LUA })).program;
  const took = performance.now() - began;
  const sound = { valid: true, complete: true, checkedFunctions: functions, truncated: false, errors: [] };
  assert.deepEqual(verify, sound);
  return took;
}

/** Runs a function that calls nothing, and once more as the program that its text is. */
async function wholeFunction({ data, importModule, simulate }) {
  const query = 'query ($program: String!) { program(name: $program) { function(name: "lua_version") { wat } } }';
  const { wat } = (await data(query, { program: LUA })).program.function;
  await importModule('lua-version', wat);
  const here = await simulate(LUA, 'lua_version', [0]);
  assert.deepEqual(here.values, ['f64:504']);
  assert.deepEqual((await simulate('lua-version', 'lua_version', [0])).values, here.values);
}

/** Reads, edits and undoes in the program of Lua. */
export async function large({ data, exportModule, importModule, edit, simulate }) {
  const { stats, ...before } = (await data(FIND, { program: LUA, value: `f64:${PI}` })).program;
  assert.ok(stats.nodes >= LARGE, `${stats.nodes} nodes`);
  let began = performance.now();
  const { requests, ...read } = await readAll(data, LUA);
  assert.deepEqual(read, stats);
  const ms = milliseconds(performance.now() - began);
  console.log(`large: ${read.functions} functions and ${read.nodes} nodes were read by ${requests} requests in ${ms}`);

  const whole = milliseconds(await verified(data, stats.functions));
  console.log(`large: all of it was verified in ${whole}, and nothing is wrong`);

  // `math.pi` is a constant of the function that makes the library.
  assert.equal(before.search.totalCount, 1);
  const [{ ref, op }] = before.search.nodes;
  assert.equal(op, `const.f64 ${PI}`);
  const module = await exportModule(LUA);
  began = performance.now();
  const { changed } = await edit(LUA, [{ modifyNode: { ref, op: 'const.f64 3.25' } }]);
  const edited = performance.now() - began;
  assert.deepEqual(changed, { added: 0, modified: 1, removed: 0, functions: 1 });
  await verified(data, stats.functions);
  began = performance.now();
  const other = await exportModule(LUA);
  const exported = performance.now() - began;
  const script = 'return math.pi .. " " .. math.floor(math.pi * 4)';
  assert.equal(await run(script, module), '3.1415926535898 12');
  assert.equal(await run(script, other), '3.25 13');
  const times = `${milliseconds(edited)}, the export ${milliseconds(exported)}`;
  console.log(`large: with one constant edited \`math.pi\` is 3.25 in Node; the edit took ${times}`);

  const after = (await data(FIND, { program: LUA, value: 'f64:3.25' })).program;
  assert.equal(after.search.totalCount, 1);
  const was = 'f64.const 0x1.921fb54442d18p+1 (;=3.141592653589793;)';
  const is = 'f64.const 0x1.ap+1 (;=3.25;)';
  assert.equal(before.function.wat.split(was).length, 2);
  assert.equal(after.function.wat, before.function.wat.replace(was, is));
  await wholeFunction({ data, importModule, simulate });
  console.log('large: the text of the edited function differs by that alone; that of another runs as a program');

  const { undo } = await data(UNDO, { program: LUA });
  assert.deepEqual(undo.outcome, { __typename: 'RevisionMade', committed: true });
  assert.ok(module.equals(await exportModule(LUA)), 'the same bytes');
  assert.ok(other.equals(await exportModule(LUA, '?at=r2')), 'the same bytes of an older revision');
  console.log(`large: undone, the export is the same ${module.length} bytes as before, and at r2 those of the edit`);
}
