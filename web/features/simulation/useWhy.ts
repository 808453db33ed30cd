import { useCallback, useRef, useState } from 'react';
import { useClient } from 'urql';

import { RunStepsDocument, RunWhyDocument, RunWhyNotDocument, type StepFragment } from '../../generated/graphql';
import { lastStep } from './looking';
import { OFFLINE } from '../../lib/problems';
import { refusalOf, type Refusal } from './refusal';

/** An answer to a question about a run. */
export interface Answer {
  /** The question. */
  title: string;
  /** Absent while it is looked for. */
  steps?: readonly StepFragment[];
  /** What the lack of steps means. */
  none?: string;
  refusal?: Refusal;
}

/** What is asked by hand is asked by hand again. */
const LOST = 'The server cannot be reached. Ask again once it can be.';

const FRESH = { requestPolicy: 'network-only' } as const;

/** Asks why values are what they are, and why nodes did not run. Only the newest question is answered. */
export function useWhy(sim: string) {
  const client = useClient();
  const [answer, setAnswer] = useState<Answer | null>(null);
  const turn = useRef(0);

  const ask = useCallback(async (title: string, work: () => Promise<Omit<Answer, 'title'>>) => {
    const mine = ++turn.current;
    setAnswer({ title });
    const found = await work();
    if (mine !== turn.current) return;
    const { refusal } = found;
    setAnswer({ title, ...found, ...(refusal?.code === OFFLINE && { refusal: { ...refusal, action: LOST } }) });
  }, []);

  const ofStep = useCallback(
    async (step: number, port: number): Promise<Omit<Answer, 'title'>> => {
      const { data, error } = await client.query(RunWhyDocument, { id: sim, step, port }, FRESH).toPromise();
      const steps = data?.simulation?.why;
      return steps ? { steps } : { refusal: refusalOf(error) };
    },
    [client, sim],
  );

  const whyStep = useCallback(
    (step: StepFragment, port = 0) =>
      ask(`Why step ${step.seq.toLocaleString('en')}, ${step.node}?`, () => ofStep(step.seq, port)),
    [ask, ofStep],
  );

  const whyNode = useCallback(
    (name: string, node: string, port: number, place: { position: number; frame: number }) =>
      ask(`Why is ${name} what it is?`, async () => {
        const page = async (from: number) => {
          const { data } = await client
            .query(RunStepsDocument, { id: sim, from, first: 1000, nodes: [node] }, FRESH)
            .toPromise();
          return data?.simulation?.trace ?? { steps: [], nextSeq: null };
        };
        const step = await lastStep(page, place.position, ({ frame }) => frame === place.frame);
        if (step === null) return { steps: [], none: 'The node has not run in this call yet. Ask why not.' };
        return ofStep(step, port);
      }),
    [ask, client, ofStep, sim],
  );

  const whyNot = useCallback(
    (name: string, node: string) =>
      ask(`Why did ${name} not run?`, async () => {
        const { data, error } = await client.query(RunWhyNotDocument, { id: sim, node }, FRESH).toPromise();
        const found = data?.simulation?.whyNotReason;
        return found ? { steps: found.steps, none: `${found.message}.` } : { refusal: refusalOf(error) };
      }),
    [ask, client, sim],
  );

  return { answer, whyStep, whyNode, whyNot };
}
