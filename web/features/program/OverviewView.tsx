import { Link } from '@tanstack/react-router';
import { PencilLine, Search } from 'lucide-react';
import { useDeferredValue, useEffect, useState } from 'react';

import { OverviewDocument } from '../../generated/graphql';
import { Allowed } from '../../lib/Allowed';
import { useAsk } from '../../lib/ask';
import { revisionKey } from '../../lib/program';
import { useRedCases } from '../../lib/useRedCases';
import { setTitle } from '../../lib/title';
import { counted, ProblemPanel, Skeleton } from '../../ui';
import { useLive } from '../edits';
import { FindingList } from './FindingList';
import { FunctionList } from './FunctionList';
import { HoleList } from './HoleList';
import { TypeList } from './TypeList';

/** What there is in a program, and what is wrong with it. */
export function OverviewView() {
  const { programId, name, doc, feed } = useLive();
  const at = revisionKey(feed.head ?? undefined).at ?? null;
  const { data, problem, refresh } = useAsk(OverviewDocument, { id: programId, at }, { requestPolicy: 'cache-first' });
  const red = useRedCases(programId, at);
  const [typed, setTyped] = useState('');
  const [incomplete, setIncomplete] = useState(false);
  const search = useDeferredValue(typed.trim());

  useEffect(() => {
    setTitle(name);
  }, [name]);

  const program = data?.program;
  if (problem && !program)
    return (
      <div className="page narrow">
        <ProblemPanel problem={problem} onRetry={refresh} />
      </div>
    );
  const stats = program?.stats;
  return (
    <div className="page overview">
      <div className="page-head">
        <h1>{name}</h1>
        {doc && <p className="muted">{doc}</p>}
      </div>
      <dl className="stats numeric">
        <Stat label="functions" value={stats?.functions} />
        <Stat label="nodes" value={stats?.nodes} />
        <Stat label="modules" value={stats?.modules} />
        <Stat label="types" value={stats?.types} />
        <Stat label="holes" value={stats?.holes} tone="warn" />
        <Stat label="warnings" value={stats?.warnings} tone="warn" />
        {red !== null && red > 0 && <Stat label="red cases" value={red} tone="error" />}
        <div>
          <dt className="muted">revision</dt>
          <dd>{program?.revision ? `r${program.revision.number}` : <Skeleton width={40} height={20} />}</dd>
        </div>
      </dl>
      <div className="overview-columns">
        <section className="panel" aria-labelledby="functions-title">
          <div className="panel-head">
            <h2 id="functions-title">Functions</h2>
            <div className="end">
              <Allowed scope="EDIT" icon={PencilLine} word="Add">
                <Link to="/p/$program/add" params={{ program: name }} className="button">
                  <PencilLine size={14} aria-hidden />
                  Add
                </Link>
              </Allowed>
              <label className="check">
                <input type="checkbox" checked={incomplete} onChange={(event) => setIncomplete(event.target.checked)} />
                only incomplete
              </label>
              <label className="search small">
                <Search size={14} aria-hidden />
                <span className="hidden">Search functions by path</span>
                <input
                  className="field"
                  type="search"
                  placeholder="Search by path"
                  value={typed}
                  onChange={(event) => setTyped(event.target.value)}
                />
              </label>
            </div>
          </div>
          <FunctionList key={`${search} ${incomplete}`} at={at} search={search} incomplete={incomplete} />
        </section>
        <aside className="overview-aside in-turn" aria-label="What is missing or wrong, and the types">
          <section className="panel" aria-labelledby="findings-title">
            <div className="panel-head">
              <h2 id="findings-title">Diagnostics</h2>
              <span className="end muted numeric">{program?.diagnostics?.totalCount.toLocaleString('en')}</span>
            </div>
            <FindingList at={at} />
          </section>
          <section className="panel" aria-labelledby="holes-title">
            <div className="panel-head">
              <h2 id="holes-title">Holes</h2>
              <span className="end muted numeric">{stats && counted(stats.holes, 'input')}</span>
            </div>
            <HoleList at={at} />
          </section>
          <section className="panel" aria-labelledby="types-title">
            <div className="panel-head">
              <h2 id="types-title">Types</h2>
              <span className="end muted numeric">{stats?.types.toLocaleString('en')}</span>
            </div>
            <TypeList at={at} />
          </section>
        </aside>
      </div>
    </div>
  );
}

function Stat({ label, value, tone }: { label: string; value: number | undefined; tone?: string }) {
  return (
    <div>
      <dt className="muted">{label}</dt>
      <dd className={value ? tone : undefined}>
        {value === undefined ? <Skeleton width={40} height={20} /> : value.toLocaleString('en')}
      </dd>
    </div>
  );
}
