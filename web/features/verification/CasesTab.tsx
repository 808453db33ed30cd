import { FlaskConical, RotateCw } from 'lucide-react';
import { useState } from 'react';

import { VerifyCasesDocument } from '../../generated/graphql';
import { usePages } from '../../lib/pages';
import { Badge, counted, Empty, ProblemPanel, SkeletonRows } from '../../ui';
import { useLive } from '../edits';
import { CaseRow } from './CaseRow';
import { casesByFunction, countsOf, type Case } from './model';
import { RemoveCase } from './RemoveCase';

/** The test cases, by function, and how each stands at the revision that is shown. */
export function CasesTab({ at }: { at: string | null }) {
  const { programId, name: program } = useLive();
  const [removing, setRemoving] = useState<Case | null>(null);
  const { items, total, fetching, problem, more, refresh } = usePages({
    document: VerifyCasesDocument,
    variables: { id: programId, at },
    pageOf: ({ program }) => program?.cases,
    // The id of a case has the view that it was asked at.
    keyOf: ({ function: { ref }, name }: Case) => `${ref} ${name}`,
  });
  if (problem && !items) return <ProblemPanel problem={problem} onRetry={refresh} />;
  if (!items)
    return (
      <div className="panel">
        <SkeletonRows rows={6} label="Running the test cases" />
      </div>
    );
  if (items.length === 0)
    return (
      <div className="panel">
        <Empty icon={FlaskConical} title="The program has no test cases yet">
          <p>
            Agents add them with <code>addCase</code>. What a run of a function returns can be kept as one, and what a
            search under “Contracts” finds.
          </p>
        </Empty>
      </div>
    );
  const counts = countsOf(items);
  return (
    <div className="panel">
      <div className="panel-head cases-head">
        <h2>{counted(total, 'case')}</h2>
        {counts.GREEN > 0 && <Badge tone="ok">{counts.GREEN} green</Badge>}
        {counts.RED > 0 && <Badge tone="error">{counts.RED} red</Badge>}
        {counts.STALE > 0 && <Badge tone="warn">{counts.STALE} stale</Badge>}
        <span className="end">
          <button
            type="button"
            className="button"
            onClick={refresh}
            disabled={fetching}
            title="Cases that were not run yet are run now"
          >
            <RotateCw size={13} aria-hidden />
            Ask again
          </button>
        </span>
      </div>
      {casesByFunction(items).map(([path, cases]) => (
        <section key={path} aria-label={`Cases of ${path}`}>
          <div className="module-head">
            <h3 className="mono">{path}</h3>
            <span className="muted">{counted(cases.length, 'case')}</span>
          </div>
          <ul>
            {cases.map((each) => (
              <CaseRow
                key={each.name}
                test={each}
                program={program}
                programId={programId}
                at={at}
                onRemove={() => setRemoving(each)}
              />
            ))}
          </ul>
        </section>
      ))}
      {more && (
        <div className="more">
          <button type="button" className="button" onClick={more}>
            Show more: {items.length} of {counted(total, 'case')}
          </button>
        </div>
      )}
      {removing && <RemoveCase test={removing} onDone={refresh} onClose={() => setRemoving(null)} />}
    </div>
  );
}
