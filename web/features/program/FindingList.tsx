import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';

import type { OverviewQuery } from '../../generated/graphql';
import { SkeletonRows } from '../../ui';
import { useLive } from '../edits';

type Findings = NonNullable<OverviewQuery['program']>['diagnostics'];

/** The first findings of the verifier, each with a way to its node. */
export function FindingList({ findings }: { findings: Findings | undefined }) {
  const { name } = useLive();
  if (!findings) return <SkeletonRows rows={2} label="Loading diagnostics" />;
  if (findings.totalCount === 0)
    return (
      <p className="panel-body fine-line">
        <CircleCheck size={14} aria-hidden className="fine" />
        The verifier finds nothing.
      </p>
    );
  const more = findings.totalCount - findings.nodes.length;
  return (
    <ul className="findings">
      {findings.nodes.map(({ code, message, severity, details }, index) => {
        const Icon = severity === 'ERROR' ? CircleAlert : TriangleAlert;
        const what = (
          <>
            <Icon size={14} aria-hidden className={severity === 'ERROR' ? 'error' : 'warn'} />
            <span>
              {message}
              <span className="mono muted">
                {code}
                {details?.node && ` · ${details.node}`}
              </span>
            </span>
          </>
        );
        return (
          // Findings have no names; the list is replaced as a whole.
          <li key={index}>
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
      {more > 0 && <li className="finding muted">and {more.toLocaleString('en')} more</li>}
    </ul>
  );
}
