import control from './ready/control.graphql?raw';
import edit from './ready/edit.graphql?raw';
import events from './ready/events.graphql?raw';
import read from './ready/function.graphql?raw';
import history from './ready/history.graphql?raw';
import programs from './ready/programs.graphql?raw';
import simulate from './ready/simulate.graphql?raw';
import start from './ready/start.graphql?raw';
import stream from './ready/stream.graphql?raw';
import undo from './ready/undo.graphql?raw';
import verify from './ready/verify.graphql?raw';

/** A tab of GraphiQL: a document, and the variables that it runs with, as JSON. */
export interface ReadyTab {
  query: string;
  variables: string;
}

/** The sample that all of them are about, and functions of it. */
const SAMPLE = 'fib';
const LOOP = 'fibonacci::fib_loop';
const ADDED = 'pub func twice (x: i64) -> (i64) pure {\n  return (mul.i64 x, 2)\n}\n';

const run = { args: ['i64:10'] };
const simulation = { programId: SAMPLE, function: LOOP, run };

function ready(query: string, variables?: Record<string, unknown>): ReadyTab {
  return { query, variables: variables ? `${JSON.stringify(variables, null, 2)}\n` : '' };
}

/** The main operations, in the order in which one needs them. What would change something does not, as they stand. */
export const READY_TABS: readonly ReadyTab[] = [
  ready(programs),
  ready(read, { program: SAMPLE, function: LOOP }),
  ready(edit, {
    input: {
      programId: SAMPLE,
      dryRun: true,
      message: 'Add a function',
      edits: [{ addText: { module: 'fibonacci', text: ADDED } }],
    },
  }),
  ready(verify, { program: SAMPLE }),
  ready(simulate, { program: SAMPLE, function: LOOP, run }),
  ready(stream, { input: simulation }),
  ready(start, { input: { ...simulation, pauseAtStart: true } }),
  ready(control, { input: { id: '…', action: 'STEP', steps: 5 } }),
  ready(history, { program: SAMPLE }),
  ready(undo, { input: { programId: SAMPLE, dryRun: true } }),
  ready(events, { program: SAMPLE }),
];
