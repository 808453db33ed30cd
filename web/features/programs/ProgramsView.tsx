import { Link } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useDeferredValue, useEffect, useEffectEvent, useRef, useState } from 'react';

import { ProgramsDocument, ProgramsEventsDocument, type ProgramsQuery } from '../../generated/graphql';
import { useSocket } from '../../lib/connection';
import { follow } from '../../lib/follow';
import { usePages } from '../../lib/pages';
import { setTitle } from '../../lib/title';
import { useRedCases } from '../../lib/useRedCases';
import { Actor, Ago, counted, Empty, Notice, ProblemPanel, SkeletonRows, useSeen } from '../../ui';
import { FlawBadges } from './FlawBadges';
import { NoPrograms } from './NoPrograms';
import './programs.css';

type Listed = NonNullable<ProgramsQuery['programs']>['nodes'][number];

/** How many programs a page has; the document says so too. */
const PAGE = 100;
/** Events within so many milliseconds are one reason to ask again. */
const GATHERED = 200;

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

  const socket = useSocket();
  const [away, setAway] = useState(false);
  const refreshSoon = useEffectEvent(() => {
    // Who has asked for more pages keeps them.
    if (!items || items.length <= PAGE) refresh();
  });

  useEffect(() => {
    setTitle('Programs');
  }, []);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        refreshSoon();
      }, GATHERED);
    };
    let lost = false;
    const end = follow(socket, {
      document: ProgramsEventsDocument,
      variables: (after) => ({ after }),
      cursorOf: ({ programEvents }) => programEvents.cursor,
      after: null,
      onEvent: soon,
      onStatus: (status) => {
        if (status === 'connected' && lost) soon();
        lost = status === 'reconnecting';
        setAway(lost);
      },
      // Whoever may not follow everything still has the list.
      onProblem: () => {},
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [socket]);

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
      {away && !problem && (
        <Notice tone="warn" title="The connection is lost. Reconnecting; the list is how it was last." />
      )}
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

function Row({ programId, name, doc, revision, stats }: Listed) {
  const row = useRef<HTMLAnchorElement>(null);
  const red = useRedCases(programId, revision ? `r${revision.number}` : null, useSeen(row));
  return (
    <Link ref={row} to="/p/$program" params={{ program: name }} className="program">
      <span className="what">
        <strong>{name}</strong>
        <span className="muted line">{doc ?? revision?.message}</span>
      </span>
      <span className="sizes muted numeric">
        {stats && `${counted(stats.functions, 'function')} · ${counted(stats.nodes, 'node')}`}
      </span>
      <span className="flaws">{stats && <FlawBadges {...stats} red={red ?? 0} />}</span>
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
