// Programs that begin as WebAssembly modules, over GraphQL: made, edited, run by both tiers, written as modules again.
import assert from 'node:assert/strict';

import { post } from './http.mjs';

const CREATE = `mutation ($input: CreateProgramInput!) {
  createProgram(input: $input) { program { stats { functions nodes } } errors { code message } }
}`;
const EDIT = `mutation ($input: ProposeEditInput!) {
  proposeEdit(input: $input) {
    outcome {
      __typename
      ... on EditApplied { committed revision { number } changed { added modified removed functions } }
      ... on EditRejected { errors { code message line column } }
    }
  }
}`;
const SIMULATE = `query ($program: String!, $function: String!, $input: SimulateInput!) {
  program(name: $program) {
    function(name: $function) {
      simulate(input: $input) {
        tier steps fuelUsed memoryPeakBytes elapsedMs
        outcome { __typename ... on Returned { values } ... on Trapped { code message } ... on LimitReached { limit } }
      }
    }
  }
}`;

/** How much longer than it came in a module may go out. */
const LONGER = 1.1;

/** What the tests ask of a server. */
export function connect(server) {
  /** Runs an operation that has to succeed. */
  async function data(query, variables) {
    const answer = await post(server, query, variables);
    assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
    return answer.data;
  }

  /** Makes a program of a module, a buffer or a text; answers how large it is and how long that took. */
  async function importModule(name, module) {
    const content = typeof module === 'string' ? { wat: module } : { wasm: Buffer.from(module).toString('base64') };
    const began = performance.now();
    const { createProgram } = await data(CREATE, { input: { name, ...content } });
    assert.deepEqual(createProgram.errors, []);
    return { ...createProgram.program.stats, ms: performance.now() - began };
  }

  /** Writes a program as a module. */
  async function exportModule(name, query = '') {
    const answer = await fetch(new URL(`/programs/${name}/wasm${query}`, server));
    const bytes = Buffer.from(await answer.arrayBuffer());
    assert.equal(answer.status, 200, bytes.toString());
    assert.equal(answer.headers.get('content-type'), 'application/wasm');
    return bytes;
  }

  /** Makes a program of a module and a module of the program, with the same interface and about as long. */
  async function thereAndBack(name, module) {
    const imported = await importModule(name, module);
    const bytes = await exportModule(name);
    assert.deepEqual(interfaceOf(bytes), interfaceOf(module));
    const ratio = bytes.length / module.length;
    assert.ok(ratio <= LONGER, `${name}: ${bytes.length} bytes for ${module.length}`);
    const sizes = `${module.length} bytes, ${imported.nodes} nodes in ${milliseconds(imported.ms)}`;
    return { ...imported, bytes, says: `${sizes}, exported ${bytes.length} bytes (${ratio.toFixed(3)})` };
  }

  /** Carries edits out. */
  async function edit(name, edits) {
    const { outcome } = (await data(EDIT, { input: { programId: name, edits } })).proposeEdit;
    assert.equal(outcome.__typename, 'EditApplied', JSON.stringify(outcome));
    assert.equal(outcome.committed, true);
    return outcome;
  }

  /** Runs a function by the interpreter and as compiled code, which agree in all but the time. */
  async function simulate(name, called, args) {
    const run = async (tier) => {
      const input = { args, tier, recordTrace: 'NONE' };
      const answer = await data(SIMULATE, { program: name, function: called, input });
      const { tier: ran, elapsedMs, ...result } = answer.program.function.simulate;
      assert.equal(ran, tier);
      return { elapsedMs, result };
    };
    const interpreted = await run('INTERPRETER');
    const compiled = await run('COMPILED');
    assert.deepEqual(compiled.result, interpreted.result);
    const { outcome, steps, fuelUsed } = interpreted.result;
    assert.equal(outcome.__typename, 'Returned', JSON.stringify(outcome));
    const times = [interpreted.elapsedMs, compiled.elapsedMs].map(milliseconds);
    const says = `${steps} steps and ${fuelUsed} fuel in both tiers, ${times[0]} interpreted, ${times[1]} compiled`;
    return { values: outcome.values, says };
  }

  return { data, importModule, exportModule, thereAndBack, edit, simulate };
}

/** What a module takes, in order, and what it gives, by name. */
function interfaceOf(bytes) {
  const module = new WebAssembly.Module(bytes);
  const given = WebAssembly.Module.exports(module).map(({ name, kind }) => `${kind} ${name}`);
  return { taken: WebAssembly.Module.imports(module), given: given.sort() };
}

/** Instantiates a module that takes nothing; answers what it gives. */
export async function instantiate(bytes) {
  return (await WebAssembly.instantiate(bytes)).instance.exports;
}

export const milliseconds = (ms) => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
