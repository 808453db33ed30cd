import { useNavigate } from '@tanstack/react-router';
import { Boxes } from 'lucide-react';
import { useState } from 'react';
import { useClient } from 'urql';

import { LoadSampleDocument } from '../../generated/graphql';
import { problemOf, type Problem } from '../../lib/problems';
import { Command, Empty, ProblemPanel } from '../../ui';

/** What the sample is called here; it is the example of that file. */
const SAMPLE = 'fib';

/** What leads on where there is nothing. */
export function NoPrograms() {
  const client = useClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  const load = async () => {
    setBusy(true);
    setProblem(undefined);
    const { default: text } = await import('../../../examples/fib.lm?raw');
    const { data, error } = await client.mutation(LoadSampleDocument, { name: SAMPLE, text }).toPromise();
    const made = data?.createProgram?.program;
    if (made) return navigate({ to: '/p/$program', params: { program: made.name } });
    const [first] = data?.createProgram?.errors ?? [];
    setProblem(first ? { ...first, action: 'The sample was not loaded.' } : problemOf(error));
    setBusy(false);
  };

  return (
    <Empty icon={Boxes} title="There are no programs yet">
      <p>Load a sample to look around, or make a program: by an agent, in GraphiQL, or from a file.</p>
      <div className="empty-acts">
        <button type="button" className="button primary" disabled={busy} onClick={() => void load()}>
          {busy ? 'Loading the sample…' : 'Load a sample'}
        </button>
        <a className="button" href="/graphiql">
          Open GraphiQL
        </a>
      </div>
      <Command>lmlang import my.lm</Command>
      {problem && <ProblemPanel problem={problem} />}
    </Empty>
  );
}
