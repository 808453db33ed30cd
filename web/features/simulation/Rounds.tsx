import { Repeat } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';

import { RunStepsDocument } from '../../generated/graphql';
import { chase, type Chase } from '../../lib/chase';
import { Badge } from '../../ui';
import type { Graph } from '../function';
import { loopsAround, roundOf, type Loop } from './looking';

/** Loops inside loops for which rounds are counted. */
const DEEPEST = 3;
const PAGE = 1000;

interface Wanted {
  loops: Loop[];
  at: string;
  frame: number;
  position: number;
}

/** Which round of each loop around it the run stands in. */
export function Rounds(props: { sim: string; graph: Graph; at: string; frame: number; position: number }) {
  const { sim, graph, at, frame, position } = props;
  const client = useClient();
  const [rounds, setRounds] = useState<{ name: string; round: number | null }[]>([]);
  const counts = useRef<Chase<Wanted>>(null);
  useEffect(() => {
    const chased = chase<Wanted>(async (wanted, isLeft) => {
      const ask = async (nodes: readonly string[], from: number) => {
        const { data } = await client
          .query(RunStepsDocument, { id: sim, from, first: PAGE, nodes: [...nodes] }, { requestPolicy: 'network-only' })
          .toPromise();
        // What is gone meanwhile has no steps.
        return data?.simulation?.trace ?? { steps: [], nextSeq: null };
      };
      const found = [];
      for (const loop of wanted.loops) found.push({ name: loop.name, round: await roundOf(ask, loop, wanted) });
      if (!isLeft()) setRounds(found);
    });
    counts.current = chased;
    return () => chased.leave();
  }, [client, sim]);

  useEffect(() => {
    const loops = loopsAround(graph, at).slice(-DEEPEST);
    counts.current?.want({ loops, at, frame, position });
  }, [client, sim, graph, at, frame, position]);

  return rounds.map(({ name, round }) => (
    <Badge key={name} tone="violet" title={`The loop ${name}: its rounds are counted from 1`}>
      <Repeat size={12} aria-hidden />
      {name} round <span className="numeric">{round === null ? 'unknown' : round.toLocaleString('en')}</span>
    </Badge>
  ));
}
