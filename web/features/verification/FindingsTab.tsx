import { CircleCheck } from 'lucide-react';
import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import { useClient } from 'urql';

import { VerifyFindingsDocument } from '../../generated/graphql';
import { usePages } from '../../lib/pages';
import { counted, Empty, Message, ProblemPanel, SkeletonRows } from '../../ui';
import { useLive } from '../edits';
import { findingKey, PreviewDialog, type Change, type Finding } from '../preview';
import { FindingRow } from './FindingRow';
import { applyFix, type Fix } from './fixes';
import { codesOf, grouped } from './model';
import { searchOf, type VerifySearch } from './search';
import type { Delta } from './useDelta';

/** A repair that somebody wants to see. */
interface Wanted {
  fix: Fix;
  at: string | null;
  finding: Finding;
}

/** What the verifier finds, by function; each finding with a way to its node and with its repairs. */
export function FindingsTab(props: {
  at: string | null;
  paths: ReadonlyMap<string, string>;
  search: VerifySearch;
  delta: Delta | null;
  onSearch(search: VerifySearch): void;
}) {
  const { at, paths, search, delta, onSearch } = props;
  const { programId, name: program, feed } = useLive();
  const client = useClient();
  const [wanted, setWanted] = useState<Wanted | null>(null);
  const [told, setTold] = useState('');
  const { items, total, problem, more, refresh } = usePages({
    document: VerifyFindingsDocument,
    variables: { id: programId, at, severity: search.severity ?? null },
    pageOf: ({ program }) => program?.diagnostics,
    keyOf: findingKey,
  });
  const filter = { code: search.code ?? null, fn: search.fn ?? null };
  const codes = useMemo(() => codesOf(items ?? []), [items]);
  const fresh = useMemo(() => new Set(delta?.added.map(findingKey)), [delta]);

  // A filter by code or function is of all findings, not of the first page.
  const filtered = filter.code !== null || filter.fn !== null;
  const load = useEffectEvent(() => more?.());
  const open = more !== undefined;
  useEffect(() => {
    if (filtered && open) load();
  }, [filtered, open, items]);

  const newest = Math.max(
    feed.head ?? 0,
    ...feed.waiting.map(({ number, branch }) => (branch === 'main' ? number : 0)),
  );
  const change = useMemo(
    (): Change | null =>
      wanted && {
        title: `Repair: ${wanted.fix.title}`,
        verb: 'Apply',
        subject: (
          <>
            <Message>{wanted.finding.message}</Message> ({wanted.finding.code})
          </>
        ),
        // The edits are about the revision that the repair was worked out at.
        base: wanted.at === null ? null : Number(wanted.at.slice(1)),
        ask: (asking) => applyFix(client, programId, wanted, asking),
      },
    [wanted, client, programId],
  );

  return (
    <>
      <form className="filters" aria-label="Which findings are shown" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span className="hidden">Severity</span>
          <select
            className="field"
            value={search.severity ?? ''}
            onChange={(event) => onSearch(searchOf({ ...search, severity: event.target.value }))}
          >
            <option value="">All severities</option>
            <option value="ERROR">Errors</option>
            <option value="WARNING">Warnings</option>
          </select>
        </label>
        <label>
          <span className="hidden">Code</span>
          <select
            className="field wide-field"
            value={search.code ?? ''}
            onChange={(event) => onSearch(searchOf({ ...search, code: event.target.value }))}
          >
            <option value="">All codes</option>
            {search.code && !codes.some(([code]) => code === search.code) && <option>{search.code}</option>}
            {codes.map(([code, count]) => (
              <option key={code} value={code}>
                {code} ({count})
              </option>
            ))}
          </select>
        </label>
        <label>
          <span className="hidden">Function, by a part of its path</span>
          <input
            className="field wide-field mono"
            type="search"
            placeholder="in function"
            value={search.fn ?? ''}
            onChange={(event) => onSearch(searchOf({ ...search, fn: event.target.value }))}
            spellCheck={false}
          />
        </label>
        <output className="muted told">{told}</output>
      </form>
      <div className="panel" data-busy={items === undefined && !problem}>
        <Findings
          findings={items}
          groups={grouped(items ?? [], paths, filter)}
          problem={problem}
          onRetry={refresh}
          row={(finding) => (
            <FindingRow
              key={findingKey(finding)}
              finding={finding}
              path={paths.get(finding.details?.function ?? '') ?? finding.details?.function ?? program}
              program={program}
              programId={programId}
              at={at}
              fresh={fresh.has(findingKey(finding))}
              onFix={(fix, { at }) => setWanted({ fix, at, finding })}
            />
          )}
        />
        {more && (
          <div className="more">
            <button type="button" className="button" onClick={more}>
              Show more: {items?.length.toLocaleString('en')} of {counted(total, 'finding')}
            </button>
          </div>
        )}
      </div>
      {change && (
        <PreviewDialog
          change={change}
          program={program}
          head={newest || null}
          onDone={(revision) => setTold(revision === null ? 'Repaired.' : `Repaired in r${revision}.`)}
          onClose={() => setWanted(null)}
        />
      )}
    </>
  );
}

function Findings(props: {
  findings: readonly Finding[] | undefined;
  groups: ReturnType<typeof grouped>;
  problem: { code: string; message: string; action: string } | undefined;
  onRetry(): void;
  row: (finding: Finding) => React.ReactNode;
}) {
  const { findings, groups, problem, onRetry, row } = props;
  if (problem && !findings)
    return (
      <div className="panel-body">
        <ProblemPanel problem={problem} onRetry={onRetry} />
      </div>
    );
  if (!findings) return <SkeletonRows rows={6} label="Loading the findings" />;
  if (findings.length === 0)
    return (
      <Empty icon={CircleCheck} title="The verifier finds nothing">
        <p>What agents and people change is verified as it comes in; what is found stands here at once.</p>
      </Empty>
    );
  if (groups.length === 0)
    return (
      <Empty icon={CircleCheck} title="No finding is like this">
        <p>There are others: show all codes and functions.</p>
      </Empty>
    );
  return groups.map(({ function: ref, path, findings }) => (
    <section key={ref} aria-label={`Findings in ${path}`}>
      <div className="module-head">
        <h2 className="mono">{path}</h2>
        <span className="muted">{counted(findings.length, 'finding')}</span>
      </div>
      <ul className="finding-rows">{findings.map(row)}</ul>
    </section>
  ));
}
