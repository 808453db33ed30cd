import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';

import { AbsentFunction } from '../../lib/AbsentFunction';
import { renamedTo } from '../../lib/renamed';
import { useTitle } from '../../lib/title';
import { useBack } from '../../lib/useBack';
import { SkeletonRows } from '../../ui';
import { useLive } from '../edits';
import { FunctionPage } from './FunctionPage';
import { useFunction } from './useFunction';
import './function.css';

/** One function at one revision: what the address says. */
export function FunctionView() {
  const { function: name = '' } = useParams({ strict: false });
  return <Opened key={name} name={name} />;
}

function Opened({ name }: { name: string }) {
  const { programId, name: program, feed } = useLive();
  const { rev, node = null } = useSearch({ from: '/p/$program/f/$function' });
  const navigate = useNavigate();
  const revision = rev ?? feed.head ?? undefined;
  const { loaded, head, resolve, progress, problem, retry } = useFunction(programId, name, revision);
  useBack(problem, retry);
  useTitle(head ? null : name);

  const select = useCallback(
    (ref: string | null) =>
      // A selection is no place to go back to.
      void navigate({
        to: '/p/$program/f/$function',
        params: { program, function: name },
        search: { ...(rev !== undefined && { rev }), ...(ref !== null && { node: ref }) },
        replace: true,
        resetScroll: false,
      }),
    [navigate, program, name, rev],
  );

  const renamed = rev === undefined ? renamedTo(name, head?.path) : null;
  useEffect(() => {
    if (renamed === null) return;
    void navigate({
      to: '/p/$program/f/$function',
      params: { program, function: renamed },
      search: node === null ? {} : { node },
      replace: true,
    });
  }, [navigate, program, renamed, node]);

  if (problem && !loaded)
    return <AbsentFunction name={name} program={program} rev={rev} problem={problem} onRetry={retry} />;
  if (!head)
    return (
      <div className="function" data-busy>
        <SkeletonRows rows={12} label="Loading the function" />
      </div>
    );
  return (
    <FunctionPage
      program={program}
      head={head}
      loaded={loaded}
      resolve={resolve}
      progress={progress}
      gone={problem?.code === 'NOT_FOUND'}
      rev={rev}
      selected={node}
      onSelect={select}
    />
  );
}
