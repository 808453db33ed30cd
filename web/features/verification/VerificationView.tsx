import { useNavigate, useSearch } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, CircleDashed } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';

import { VerifySummaryDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { revisionKey } from '../../lib/program';
import { useRedCases } from '../../lib/useRedCases';
import { setTitle } from '../../lib/title';
import { Actor, Badge, counted, Skeleton, Tabs } from '../../ui';
import { useLive } from '../edits';
import { CasesTab } from './CasesTab';
import { ContractsTab } from './ContractsTab';
import { FindingsTab } from './FindingsTab';
import { searchOf, type Part, type VerifySearch } from './search';
import { useDelta, type Delta } from './useDelta';
import { useFunctions } from './useFunctions';
import './verification.css';

const PARTS: readonly { id: Part; label: string }[] = [
  { id: 'findings', label: 'Diagnostics' },
  { id: 'contracts', label: 'Contracts' },
  { id: 'cases', label: 'Cases' },
];

/** Whether a program is right: what the verifier finds, what contracts promise, and what test cases say. */
export function VerificationView() {
  const { programId, name: program, feed } = useLive();
  const navigate = useNavigate();
  const search = useSearch({ from: '/p/$program/verify' });
  const at = revisionKey(feed.head ?? undefined).at ?? null;
  const delta = useDelta(programId, feed.head);
  const functions = useFunctions(programId, at);
  const part: Part = search.tab ?? 'findings';
  const red = useRedCases(programId, at);
  // What was found of one revision says nothing of the next.
  const [found, setFound] = useState<{ at: string | null; broken: number }>({ at, broken: 0 });
  const broken = found.at === at ? found.broken : 0;

  useEffect(() => {
    setTitle(`Verification · ${program}`);
  }, [program]);

  const go = useCallback(
    (next: VerifySearch) =>
      void navigate({ to: '/p/$program/verify', params: { program }, search: next, replace: true, resetScroll: false }),
    [navigate, program],
  );
  return (
    <div className="page verification">
      <div className="page-head">
        <h1>Verification</h1>
        <Summary programId={programId} at={at} red={red} broken={broken} />
        <span className="end">
          <DeltaLine delta={delta} />
        </span>
      </div>
      <Tabs<Part>
        label="Parts of the verification"
        panel="verify-panel"
        tabs={PARTS.map(({ id, label }) => ({
          id,
          label:
            id === 'cases' && red !== null && red > 0 ? (
              <>
                {label}
                <span className="badge error numeric">{red} red</span>
              </>
            ) : (
              label
            ),
        }))}
        current={part}
        onChange={(id) => go(searchOf({ ...search, tab: id === 'findings' ? null : id }))}
      />
      <div id="verify-panel" role="tabpanel" aria-labelledby={`tab-${part}`} className="verify-panel">
        {part === 'findings' && (
          <FindingsTab at={at} paths={functions.paths} search={search} delta={delta} onSearch={go} />
        )}
        {part === 'contracts' && (
          <ContractsTab at={at} functions={functions} onBroken={(broken) => setFound({ at, broken })} />
        )}
        {part === 'cases' && <CasesTab at={at} />}
      </div>
    </div>
  );
}

function Summary(props: { programId: string; at: string | null; red: number | null; broken: number }) {
  const { programId, at, red, broken } = props;
  const { data, problem } = useAsk(VerifySummaryDocument, { id: programId, at }, { requestPolicy: 'cache-first' });
  if (problem) return <Badge title={problem.message}>not verified</Badge>;
  if (!data?.program)
    return (
      <span className="summary">
        <Skeleton width={180} height={20} />
      </span>
    );
  const { verify, stats, errors } = data.program;
  const failing = errors?.totalCount ?? 0;
  return (
    <span className="summary">
      {failing > 0 ? (
        <Badge tone="error">
          <CircleAlert size={12} aria-hidden />
          {counted(failing, 'error')}
        </Badge>
      ) : verify?.complete ? (
        <Badge tone={broken > 0 || red ? 'plain' : 'ok'}>
          <CircleCheck size={12} aria-hidden />
          complete
        </Badge>
      ) : (
        <Badge tone="warn">
          <CircleDashed size={12} aria-hidden />
          incomplete
        </Badge>
      )}
      {red !== null && red > 0 && (
        <Badge tone="error">
          <CircleAlert size={12} aria-hidden />
          {counted(red, 'red case')}
        </Badge>
      )}
      {broken > 0 && (
        <Badge tone="error" title="By inputs that were found here">
          <CircleAlert size={12} aria-hidden />
          {counted(broken, 'broken function')}
        </Badge>
      )}
      {stats && (
        <span className="muted">
          {counted(stats.warnings, 'warning')}, {counted(stats.holes, 'hole')} in {counted(stats.functions, 'function')}
          {at && ` at ${at}`}
        </span>
      )}
    </span>
  );
}

/** What the newest revision has changed about the findings. */
function DeltaLine({ delta }: { delta: Delta | null }) {
  if (!delta) return null;
  const { revision, added, resolved } = delta;
  return (
    <output className="delta">
      <span className="numeric">r{revision.number}</span>
      <Actor {...revision.actor} />
      {added.length === 0 && resolved.length === 0 ? (
        <span className="muted">changes no finding</span>
      ) : (
        <span className="counts">
          {added.length > 0 && <span className="removed">+{added.length} new</span>}
          {resolved.length > 0 && <span className="added">−{resolved.length} gone</span>}
        </span>
      )}
    </output>
  );
}
