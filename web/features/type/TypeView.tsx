import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';

import { renamedTo } from '../../lib/renamed';
import { useTitle } from '../../lib/title';
import { useBack } from '../../lib/useBack';
import { ProblemPanel, SkeletonRows } from '../../ui';
import { useLive } from '../edits';
import { TypePage } from './TypePage';
import { useType } from './useType';
import './type.css';

/** One type at one revision: what the address says. */
export function TypeView() {
  const { type: name = '' } = useParams({ strict: false });
  return <Opened key={name} name={name} />;
}

function Opened({ name }: { name: string }) {
  const { programId, name: program, feed } = useLive();
  const { rev, member = null } = useSearch({ from: '/p/$program/t/$type' });
  const navigate = useNavigate();
  const { loaded, problem, retry } = useType(programId, name, rev ?? feed.head ?? undefined);
  useBack(problem, retry);
  useTitle(loaded ? null : name);

  const go = useCallback(
    (type: string, member: string | null) =>
      void navigate({
        to: '/p/$program/t/$type',
        params: { program, type },
        search: { ...(rev !== undefined && { rev }), ...(member !== null && { member }) },
        replace: true,
        resetScroll: false,
      }),
    [navigate, program, rev],
  );
  const select = useCallback((member: string | null) => go(name, member), [go, name]);
  const renamed = rev === undefined ? renamedTo(name, loaded?.facts.path) : null;
  useEffect(() => {
    if (renamed !== null) go(renamed, member);
  }, [go, renamed, member]);

  if (loaded)
    return (
      <TypePage
        programId={programId}
        program={program}
        loaded={loaded}
        gone={problem?.code === 'NOT_FOUND'}
        rev={rev}
        member={member}
        onSelect={select}
      />
    );
  if (!problem)
    return (
      <div className="function" data-busy>
        <SkeletonRows rows={10} label="Loading the type" />
      </div>
    );
  return (
    <div className="page narrow">
      <h1 className="mono">{name}</h1>
      <ProblemPanel problem={problem} onRetry={retry}>
        {problem.code === 'NOT_FOUND' && (
          <>
            {rev !== undefined && (
              <Link to="/p/$program/t/$type" params={{ program, type: name }} className="button">
                Look at the head
              </Link>
            )}
            {/^f\d+$/.test(name) && (
              <Link
                to="/p/$program/f/$function"
                params={{ program, function: name }}
                search={rev === undefined ? {} : { rev }}
                className="button"
              >
                The function {name}
              </Link>
            )}
            {/^t\d+$/.test(name) && (
              <Link to="/p/$program/history" params={{ program }} search={{ touching: name }} className="button">
                Every change of {name}
              </Link>
            )}
            <Link to="/p/$program" params={{ program }} className="button">
              All of {program}
            </Link>
          </>
        )}
      </ProblemPanel>
    </div>
  );
}
