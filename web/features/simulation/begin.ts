// How runs are begun, from the form or with inputs that are known.
import type { Client } from 'urql';

import { RunStartDocument, type SimulateInput } from '../../generated/graphql';
import { rememberRun } from './recent';
import { refusalOf, type Refusal } from './refusal';

/** What a stream of the simulation's steps may hold: the player reads pages of its own. */
const TRACE_BYTES = 1_000_000;

/** A run that is to be begun. */
export interface Begun {
  programId: string;
  /** The revision; without one the head. */
  at: string | null;
  /** The function, by ref. */
  function: string;
  run: SimulateInput;
  /** Where its inputs came from, in words. */
  origin: string;
  /** Under which it is begun once. */
  key: string;
}

/** Begins a run, which stands before its first step then, and remembers what it was given; tells why it is refused. */
export async function begin(client: Client, begun: Begun): Promise<{ sim: string } | Refusal> {
  const { programId, at, function: ref, run, origin, key } = begun;
  const bounded = { ...run, limits: { ...run.limits, traceBytes: TRACE_BYTES } };
  const { data, error } = await client
    .mutation(RunStartDocument, {
      input: { programId, at, function: ref, run: bounded, pauseAtStart: true, idempotencyKey: key },
    })
    .toPromise();
  const simulation = data?.startSimulation?.simulation;
  if (!simulation) return refusalOf(error);
  rememberRun({
    sim: simulation.id,
    program: programId,
    function: ref,
    revision: simulation.program.revision?.number ?? null,
    run: bounded,
    origin,
    at: new Date().toISOString(),
  });
  return { sim: simulation.id };
}
