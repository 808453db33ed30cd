import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { TypeUsesDocument, type Question } from '../../generated/graphql';
import { revisionKey } from '../../lib/program';
import { usePages } from '../../lib/pages';
import { counted, ProblemPanel, SkeletonRows, Tabs } from '../../ui';
import { usesByFunction, type Use } from './model';

type Asked = Extract<Question, 'WRITERS' | 'READERS'>;

const NONE: Record<Asked, string> = { WRITERS: 'Nothing makes or changes it.', READERS: 'Nothing reads it.' };

/** The nodes that make and change values of a type, and those that read what is in them: of all of it, or of one part. */
export function Uses(props: {
  programId: string;
  program: string;
  rev: number | undefined;
  /** The revision that is looked at. */
  at: number | null;
  of: { ref: string };
  name: string;
  /** The name of the part, where it is about one. */
  member?: string;
  onWhole(): void;
}) {
  const { programId, program, rev, at, of, name, member, onWhole } = props;
  const [question, setQuestion] = useState<Asked>('WRITERS');
  const { items, total, problem, more, refresh } = usePages({
    document: TypeUsesDocument,
    variables: { id: programId, at: revisionKey(at ?? undefined).at ?? null, of: of.ref, question },
    pageOf: ({ program }) => program?.analysis,
    keyOf: (use: Use) => `${use.ref} ${use.reason}`,
  });
  const groups = usesByFunction(items ?? []);
  return (
    <section className="panel" aria-labelledby="uses-title">
      <div className="panel-head">
        <h2 id="uses-title" className="long-name">
          Nodes that use{' '}
          <span className="mono">
            {name}
            {member !== undefined && `.${member}`}
          </span>
        </h2>
        {member !== undefined && (
          <span className="end">
            <button type="button" className="button plain long-name" onClick={onWhole}>
              All of {name}
            </button>
          </span>
        )}
      </div>
      <Tabs<Asked>
        label="How it is used"
        panel="uses-panel"
        tabs={[
          { id: 'WRITERS', label: 'Made and changed' },
          { id: 'READERS', label: 'Read' },
        ]}
        current={question}
        onChange={setQuestion}
      />
      <div id="uses-panel" role="tabpanel" aria-labelledby={`tab-${question}`}>
        {!items && !problem && <SkeletonRows rows={3} label="Looking for the nodes" />}
        {items?.length === 0 && <p className="panel-body muted">{NONE[question]}</p>}
        {groups.length > 0 && (
          <ul className="type-list">
            {groups.map(({ path, uses }) => (
              <li key={path ?? ''} className="type-group">
                {path !== null && (
                  <Link
                    to="/p/$program/f/$function"
                    params={{ program, function: path }}
                    search={rev === undefined ? {} : { rev }}
                    className="mono"
                  >
                    {path}
                  </Link>
                )}
                <ul>
                  {uses.map(({ ref, text, reason }) => (
                    <li key={`${ref} ${reason}`}>
                      {path === null ? (
                        <span className="mono">{text}</span>
                      ) : (
                        <Link
                          to="/p/$program/f/$function"
                          params={{ program, function: path }}
                          search={{ ...(rev !== undefined && { rev }), node: ref }}
                          className="mono type-use"
                          title={reason.replaceAll('`', '')}
                        >
                          {text}
                        </Link>
                      )}
                      <span className="mono muted type-ref">{ref}</span>
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        )}
        {problem && (
          <div className="panel-body">
            <ProblemPanel problem={problem} onRetry={more ?? refresh} />
          </div>
        )}
        {more && (
          <div className="more">
            <button type="button" className="button" onClick={more}>
              Show more: {items?.length.toLocaleString('en')} of {counted(total, 'node')}
            </button>
          </div>
        )}
      </div>
    </section>
  );
}
