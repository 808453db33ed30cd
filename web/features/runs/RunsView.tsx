import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Play, Workflow, X } from 'lucide-react';
import { useEffect } from 'react';

import { FlowsDocument, type RunStatus } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { useCaller } from '../../lib/caller';
import { LiveMark } from '../../lib/LiveMark';
import { setTitle } from '../../lib/title';
import { aboutOf } from '../../lib/words';
import { Actor, Ago, Command, counted, Empty, lasting, Message, ProblemPanel, SkeletonRows } from '../../ui';
import { EndsBy } from './EndsBy';
import { RUN_STATUSES, shortId, STATUSES, type Run } from './model';
import type { RunsSearch } from './search';
import { StartForm } from './StartForm';
import { StatusBadge } from './StatusBadge';
import { useRuns } from './useRuns';
import './runs.css';

/** The runs of all flows, the newest first. */
export function RunsView() {
  const search = useSearch({ from: '/runs' });
  const navigate = useNavigate();
  const lacks = useCaller().lacks('EDIT');
  const flows = useAsk(FlowsDocument, {});
  const filter = { flow: search.flow ?? null, status: search.status ?? null, session: search.session ?? null };
  const { items, total, problem, fetching, more, refresh, live } = useRuns(filter);
  useEffect(() => setTitle('Runs'), []);

  const go = (parts: { [Key in keyof RunsSearch]: RunsSearch[Key] | undefined }) => {
    const next = Object.fromEntries(Object.entries({ ...search, ...parts }).filter(([, value]) => value));
    void navigate({ to: '/runs', search: next as RunsSearch, replace: true, resetScroll: false });
  };
  const filtered = Object.values(filter).some((part) => part !== null);
  const names = (flows.data?.flows ?? []).map(({ name }) => name);
  return (
    <div className="page">
      <div className="page-head">
        <h1>Runs</h1>
        <LiveMark live={live} />
        <div className="end">
          <Link to="/runs/new" search={search.flow ? { flow: search.flow } : {}} className="button primary">
            <Play size={14} aria-hidden />
            Start a run
          </Link>
        </div>
      </div>
      <form className="runs-filters" aria-label="Which runs are shown" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span className="hidden">Flow</span>
          <select
            className="field"
            value={search.flow ?? ''}
            onChange={(event) => go({ flow: event.target.value || undefined })}
          >
            <option value="">All flows</option>
            {search.flow !== undefined && !names.includes(search.flow) && <option>{search.flow}</option>}
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          <span className="hidden">Status</span>
          <select
            className="field"
            value={search.status ?? ''}
            onChange={(event) => go({ status: (event.target.value || undefined) as RunStatus | undefined })}
          >
            <option value="">Any status</option>
            {RUN_STATUSES.map((status) => (
              <option key={status} value={status}>
                {STATUSES[status].word}
              </option>
            ))}
          </select>
        </label>
        {search.session !== undefined && <span className="muted">of one conversation</span>}
        {filtered && (
          <button
            type="button"
            className="button plain"
            onClick={() => go({ flow: undefined, status: undefined, session: undefined })}
          >
            <X size={13} aria-hidden />
            Clear
          </button>
        )}
        {items && items.length > 0 && <span className="muted numeric runs-total">{counted(total, 'run')}</span>}
      </form>
      {problem && <ProblemPanel problem={problem} onRetry={refresh} />}
      {!items && !problem && (
        <div className="panel">
          <SkeletonRows rows={8} height={56} label="Loading runs" />
        </div>
      )}
      {items?.length === 0 && (
        <div className="panel">
          {filtered ? (
            <Empty icon={Workflow} title="No run is like this">
              <button
                type="button"
                className="button"
                onClick={() => go({ flow: undefined, status: undefined, session: undefined })}
              >
                Show all runs
              </button>
            </Empty>
          ) : (
            <NoRuns lacks={lacks} />
          )}
        </div>
      )}
      {items && items.length > 0 && (
        <div className="panel" aria-busy={fetching}>
          <ol className="runs" aria-label="Runs, the newest first">
            {items.map((run) => (
              <li key={run.id}>
                <Row run={run} />
              </li>
            ))}
          </ol>
          {more && (
            <div className="more">
              <button type="button" className="button" onClick={more}>
                Show more: {items.length} of {counted(total, 'run')}
              </button>
            </div>
          )}
        </div>
      )}
    </div>
  );
}

function Row({ run }: { run: Run }) {
  const { id, status, node, flow, program, progress, startedBy, createdAt, endedAt, deadline } = run;
  const about = aboutOf(run);
  const last = progress?.at(-1);
  return (
    <Link to="/runs/$run" params={{ run: id }} className="run-row" data-run={id}>
      <span className="run-state">
        <StatusBadge status={status} />
      </span>
      <span className="run-what">
        <span className="run-name">
          <strong>{flow.name}</strong>
          <span className="muted mono">{shortId(id)}</span>
        </span>
        <span className="muted run-line" title={[about, last].filter(Boolean).join(' · ')}>
          {about ?? (last === undefined && 'no title')}
          {about !== null && last !== undefined && ' · '}
          {last !== undefined && <Message>{last}</Message>}
        </span>
      </span>
      <span className="run-where">
        {node && (
          <span>
            <span className="muted">at</span> <span className="mono">{node}</span>
          </span>
        )}
        {program && <span className="muted mono run-line">{program.name}</span>}
        {deadline && !endedAt && <EndsBy at={deadline} />}
      </span>
      <span className="run-who">
        <Actor {...startedBy} />
        <span className="run-took muted numeric" title={endedAt ? 'How long it took' : undefined}>
          {endedAt ? lasting(Date.parse(endedAt) - Date.parse(createdAt)) : ''}
        </span>
        <Ago at={createdAt} />
      </span>
    </Link>
  );
}

/** What starts a run, for who has no form. */
const COMMAND = 'lmlang flow start review program=NAME branch=NAME';
const MUTATION = `mutation { startRun(input: { flow: "review", input: { program: "NAME", branch: "NAME" } }) { run { id status } } }`;

/** What leads on where nothing has run. */
function NoRuns({ lacks }: { lacks: string | null }) {
  return (
    <>
      <Empty icon={Workflow} title="Nothing has run yet">
        <p>
          A run carries out a flow: it works in steps that survive a restart, and asks people where a decision is
          theirs. Start one here, from a shell, or over GraphQL.
        </p>
        <Command>{COMMAND}</Command>
        <Command>{MUTATION}</Command>
      </Empty>
      {lacks === null ? (
        <div className="panel-body runs-start">
          <StartForm search={{}} />
        </div>
      ) : (
        <p className="panel-body muted">{lacks}</p>
      )}
    </>
  );
}
