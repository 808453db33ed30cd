import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';

import { OverviewFindingsDocument, type OverviewFindingsQuery } from '../../generated/graphql';
import { usePages } from '../../lib/pages';
import { plainText } from '../../lib/text';
import { Message } from '../../ui';
import { useLive } from '../edits';
import { ListEnd, ListStart } from './ListEnd';

type Finding = NonNullable<NonNullable<OverviewFindingsQuery['program']>['diagnostics']>['nodes'][number];

/** The findings of the verifier, each with a way to its node: a page, and more when asked for. */
export function FindingList({ at }: { at: string | null }) {
  const { programId, name } = useLive();
  const list = usePages({
    document: OverviewFindingsDocument,
    variables: { id: programId, at },
    pageOf: ({ program }) => program?.diagnostics,
    // Findings have no names: two that say the same of the same are one to the reader.
    keyOf: (finding: Finding) => JSON.stringify(finding),
  });
  const { items, total } = list;
  if (!items) return <ListStart list={list} label="Loading diagnostics" />;
  if (total === 0)
    return (
      <p className="panel-body fine-line">
        <CircleCheck size={14} aria-hidden className="fine" />
        The verifier finds nothing.
      </p>
    );
  return (
    <>
      <ul className="findings">
        {items.map((finding) => {
          const { code, message, severity, details } = finding;
          const Icon = severity === 'ERROR' ? CircleAlert : TriangleAlert;
          const what = (
            <>
              <Icon size={14} aria-hidden className={severity === 'ERROR' ? 'error' : 'warn'} />
              <span>
                <Message>{message}</Message>
                <span className="mono muted">
                  {code}
                  {details?.node && ` · ${details.text ? plainText(details.text).trim() : details.node}`}
                </span>
              </span>
            </>
          );
          return (
            <li key={JSON.stringify(finding)}>
              {details?.function ? (
                <Link
                  to="/p/$program/f/$function"
                  params={{ program: name, function: details.function }}
                  search={details.node ? { node: details.node } : {}}
                  className="finding"
                >
                  {what}
                </Link>
              ) : (
                <span className="finding">{what}</span>
              )}
            </li>
          );
        })}
      </ul>
      <ListEnd list={list} what="diagnostic" />
    </>
  );
}
