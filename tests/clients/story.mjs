// One story, told through any client that can run an operation and follow a subscription: a program is created from
// text, changed, verified, simulated with its trace streaming, undone, read as it was, and compared.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const SHA256 = readFileSync(new URL('../../examples/sha256.lm', import.meta.url), 'utf8');
const TWICE = 'pub func twice (x: i64) -> (i64) pure {\n  return (mul.i64 x, 2)\n}\n';
/** FIPS 180-4, the example of one block. */
const DIGEST_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

const CREATE = `mutation ($input: CreateProgramInput!) {
  createProgram(input: $input) {
    program { id eventCursor revision { number } }
    errors { code message line column }
  }
}`;
const EVENTS = `subscription ($program: ID!, $after: String) {
  programEvents(programId: $program, after: $after) {
    __typename
    cursor
    ... on RevisionCommitted { revision { number kind } touched }
  }
}`;
const EDIT = `mutation ($input: ProposeEditInput!) {
  proposeEdit(input: $input) {
    outcome {
      __typename
      ... on EditApplied { committed revision { number } created { ref } changed { added functions } }
      ... on EditRejected { errors { code message } }
    }
  }
}`;
const VERIFY = `query ($program: ID!) {
  program(id: $program) { verify(scope: FULL) { valid complete checkedFunctions errors { code message } } }
}`;
const SIMULATE = `subscription ($input: StartSimulationInput!) {
  simulate(input: $input) {
    cursor
    skipped
    status
    steps { seq op }
    outcome { __typename ... on Returned { values } }
  }
}`;
const UNDO = `mutation ($input: UndoInput!) {
  undo(input: $input) { outcome { __typename ... on RevisionMade { committed revision { number } } } }
}`;
const LOOK = `query ($program: ID!, $at: String) {
  program(id: $program, at: $at) { id revision { number } function(name: "sha256::twice") { ref name } }
}`;
const DIFF = `query ($program: ID!, $from: String!, $to: String!) {
  program(id: $program) { diff(from: $from, to: $to) { changed { added removed functions } text } }
}`;

/**
 * Tells the story.
 *
 * `run(query, variables)` resolves to an execution result; `follow(query, variables)` is an async iterable of them.
 */
export async function tell({ run, follow }) {
  const data = async (query, variables) => {
    const result = await run(query, variables);
    assert.equal(result.errors, undefined, JSON.stringify(result.errors));
    return result.data;
  };

  const { createProgram } = await data(CREATE, { input: { name: `story-${process.pid}`, text: SHA256 } });
  assert.deepEqual(createProgram.errors, []);
  const { id: program, eventCursor, revision: first } = createProgram.program;

  const events = follow(EVENTS, { program, after: eventCursor })[Symbol.asyncIterator]();
  const committed = async () => {
    for (;;) {
      const { value, done } = await events.next();
      assert.ok(!done, 'the events go on');
      assert.equal(value.errors, undefined, JSON.stringify(value.errors));
      if (value.data.programEvents.__typename === 'RevisionCommitted') return value.data.programEvents;
    }
  };

  const edits = [{ addText: { module: 'sha256', text: TWICE } }];
  const base = `r${first.number}`;
  const { proposeEdit } = await data(EDIT, { input: { programId: program, baseRevision: base, edits } });
  assert.equal(proposeEdit.outcome.__typename, 'EditApplied', JSON.stringify(proposeEdit));
  assert.equal(proposeEdit.outcome.committed, true);
  const second = proposeEdit.outcome.revision.number;
  assert.equal((await committed()).revision.number, second);

  const { verify } = (await data(VERIFY, { program })).program;
  assert.deepEqual([verify.valid, verify.complete, verify.errors], [true, true, []]);

  const input = { programId: program, function: 'sha256::sha256', run: { args: ['abc'] } };
  const trace = { batches: 0, steps: 0, outcome: null };
  for await (const { data, errors } of follow(SIMULATE, { input })) {
    assert.equal(errors, undefined, JSON.stringify(errors));
    trace.batches += 1;
    trace.steps += data.simulate.steps.length;
    trace.outcome = data.simulate.outcome ?? trace.outcome;
  }
  assert.equal(trace.outcome?.__typename, 'Returned', JSON.stringify(trace.outcome));
  assert.match(trace.outcome.values[0], new RegExp(DIGEST_OF_ABC));
  assert.ok(trace.steps > 1000, `the trace has ${trace.steps} steps`);
  assert.ok(trace.batches > 1, 'the trace arrives in batches');

  const { undo } = await data(UNDO, { input: { programId: program } });
  assert.equal(undo.outcome.__typename, 'RevisionMade');
  const third = undo.outcome.revision.number;
  assert.equal((await committed()).revision.number, third);
  await events.return?.();

  const then = (await data(LOOK, { program, at: `r${second}` })).program;
  assert.equal(then.function.name, 'twice');
  const now = await run(LOOK, { program });
  assert.equal(now.data.program.function, null);
  assert.equal(now.errors[0].extensions.code, 'NOT_FOUND');

  const { diff } = (await data(DIFF, { program, from: `r${second}`, to: `r${third}` })).program;
  assert.ok(diff.changed.removed > 0 && diff.changed.added === 0, JSON.stringify(diff.changed));
  assert.match(diff.text, /twice/);
  console.log(`the story took ${third} revisions and a trace of ${trace.steps} steps in ${trace.batches} batches`);
}
