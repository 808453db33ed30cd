import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { useMemo } from 'react';

import { RunNamesDocument } from '../../generated/graphql';
import { Allowed } from '../../lib/Allowed';
import { useAsk } from '../../lib/ask';
import { useCaller } from '../../lib/caller';
import { revisionKey } from '../../lib/program';
import { useTitle } from '../../lib/title';
import { useBack } from '../../lib/useBack';
import { ProblemPanel, SkeletonRows } from '../../ui';
import { useLive } from '../edits';
import { NamesContext, namesOf } from './names';
import { Player } from './Player';
import { StartForm } from './StartForm';
import { useSimulation } from './useSimulation';

/** A run of a function: the form for its inputs, or the simulation that the address names. */
export function RunView() {
  const { function: name = '' } = useParams({ strict: false });
  const { sim, step, node = null, rev } = useSearch({ from: '/p/$program/f/$function/run' });
  if (sim === undefined) return <StartForm key={`${name} ${rev ?? ''}`} name={name} rev={rev} />;
  return <Opened key={sim} name={name} sim={sim} step={step ?? null} selected={node} />;
}

function Opened(props: { name: string; sim: string; step: number | null; selected: string | null }) {
  const { name, sim, step, selected } = props;
  const { programId, name: program } = useLive();
  // Who may not move it sees it where it stands.
  const mayMove = useCaller().lacks('SIMULATE') === null;
  const simulated = useSimulation(sim, mayMove ? step : null);
  const { state, problem, retry } = simulated;
  useBack(problem, retry);
  useTitle(state ? null : `Run of ${name}`);
  const at = revisionKey(state?.program.revision?.number).at ?? null;
  const { data } = useAsk(RunNamesDocument, { id: programId, at }, { pause: !state, requestPolicy: 'cache-first' });
  const names = useMemo(() => namesOf(data?.program), [data]);

  if (problem)
    return (
      <div className="page narrow">
        <h1>{problem.code === 'NOT_FOUND' ? 'This run is not kept any more' : 'The run cannot be shown'}</h1>
        <ProblemPanel
          problem={
            problem.code === 'NOT_FOUND'
              ? {
                  ...problem,
                  action: 'Runs are forgotten some time after somebody looked at them last. Begin another one.',
                }
              : problem
          }
          onRetry={retry}
        />
        <Allowed scope="SIMULATE" icon={Play} word="Run the function again">
          <Link to="/p/$program/f/$function/run" params={{ program, function: name }} search={{}}>
            Run the function again
          </Link>
        </Allowed>
      </div>
    );
  if (!state)
    return (
      <div className="function" data-busy="true">
        <SkeletonRows rows={12} label="Opening the run" />
      </div>
    );
  return (
    <NamesContext value={names}>
      <Player sim={sim} simulated={simulated} state={state} selected={selected} step={step} />
    </NamesContext>
  );
}
