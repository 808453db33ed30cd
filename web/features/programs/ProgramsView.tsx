import { Link } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useDeferredValue, useEffect, useState } from 'react';

import { ProgramsDocument, type ProgramsQuery } from '../../generated/graphql';
import { usePages } from '../../lib/pages';
import { Actor, Ago, counted, Empty, ProblemPanel, SkeletonRows } from '../../ui';
import { FlawBadges } from './FlawBadges';
import { NoPrograms } from './NoPrograms';
import './programs.css';

type Listed = NonNullable<ProgramsQuery['programs']>['nodes'][number];

/** All programs of the server. */
export function ProgramsView() {
  const [typed, setTyped] = useState('');
  const search = useDeferredValue(typed.trim());
  const { items, total, problem, fetching, more, refresh } = usePages({
    document: ProgramsDocument,
    variables: { search: search || null },
    pageOf: ({ programs }) => programs,
    keyOf: ({ programId }: Listed) => programId,
  });

  useEffect(() => {
    document.title = 'Programs · lmlang';
  }, []);

  return (
    <div className="page">
      <div className="page-head">
        <h1>Programs</h1>
        <div className="end">
          <label className="search">
            <Search size={14} aria-hidden />
            <span className="hidden">Search programs by name</span>
            <input
              className="field"
              type="search"
              placeholder="Search by name"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </label>
        </div>
      </div>
      {problem && <ProblemPanel problem={problem} onRetry={refresh} />}
      {!items && !problem && (
        <div className="panel">
          <SkeletonRows rows={8} height={52} label="Loading programs" />
        </div>
      )}
      {items && items.length === 0 && (
        <div className="panel">
          {search ? (
            <Empty icon={Search} title="No program has this in its name">
              <p>The search looks at names alone.</p>
            </Empty>
          ) : (
            <NoPrograms />
          )}
        </div>
      )}
      {items && items.length > 0 && (
        <div className="panel" aria-busy={fetching}>
          <ul className="programs" aria-label="Programs">
            {items.map((program) => (
              <li key={program.programId}>
                <Row {...program} />
              </li>
            ))}
          </ul>
          {more && (
            <div className="more">
              <button type="button" className="button" onClick={more}>
                Show more: {items.length} of {counted(total, 'program')}
              </button>
            </div>
          )}
        </div>
      )}
    </div>
  );
}

function Row({ name, doc, revision, stats }: Listed) {
  return (
    <Link to="/p/$program" params={{ program: name }} className="program">
      <span className="what">
        <strong>{name}</strong>
        <span className="muted line">{doc ?? revision?.message}</span>
      </span>
      <span className="sizes muted numeric">
        {stats && `${counted(stats.functions, 'function')} · ${counted(stats.nodes, 'node')}`}
      </span>
      <span className="flaws">{stats && <FlawBadges {...stats} />}</span>
      <span className="last">
        {revision && (
          <>
            <Actor {...revision.actor} />
            <span className="muted numeric">r{revision.number}</span>
            <Ago at={revision.createdAt} />
          </>
        )}
      </span>
    </Link>
  );
}
