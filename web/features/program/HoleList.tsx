import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleDashed } from 'lucide-react';

import type { OverviewQuery } from '../../generated/graphql';
import { SkeletonRows } from '../../ui';
import { useLive } from '../edits';

type Holes = NonNullable<OverviewQuery['program']>['holes'];

/** The first nodes with an input that has no source. */
export function HoleList({ holes }: { holes: Holes | undefined }) {
  const { name } = useLive();
  if (!holes) return <SkeletonRows rows={2} label="Loading holes" />;
  if (holes.totalCount === 0)
    return (
      <p className="panel-body fine-line">
        <CircleCheck size={14} aria-hidden className="fine" />
        Every input has a source.
      </p>
    );
  const more = holes.totalCount - holes.nodes.length;
  return (
    <ul className="findings">
      {holes.nodes.map(({ ref, label, op, owner, inputs }) => (
        <li key={ref}>
          <Link
            to="/p/$program/f/$function"
            params={{ program: name, function: owner.ref }}
            search={{ node: ref }}
            className="finding"
          >
            <CircleDashed size={14} aria-hidden className="warn" />
            <span>
              <span className="mono">
                {label ? `${label} = ` : ''}
                {op}
              </span>{' '}
              takes{' '}
              {inputs
                .filter(({ hole }) => hole)
                .map(({ name, hole }) => `${name}: ${hole?.expectedType}`)
                .join(', ')}
              <span className="mono muted">
                {owner.path} · {ref}
              </span>
            </span>
          </Link>
        </li>
      ))}
      {more > 0 && <li className="finding muted">and {more.toLocaleString('en')} more</li>}
    </ul>
  );
}
