import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleDashed } from 'lucide-react';

import { OverviewHolesDocument, type OverviewHolesQuery } from '../../generated/graphql';
import { usePages } from '../../lib/pages';
import { useLive } from '../edits';
import { ListEnd, ListStart } from './ListEnd';

type Hollow = NonNullable<NonNullable<OverviewHolesQuery['program']>['search']>['nodes'][number];

/** The nodes with an input that has no source: a page, and more when asked for. */
export function HoleList({ at }: { at: string | null }) {
  const { programId, name } = useLive();
  const list = usePages({
    document: OverviewHolesDocument,
    variables: { id: programId, at },
    pageOf: ({ program }) => program?.search,
    keyOf: ({ ref }: Hollow) => ref,
  });
  const { items, total } = list;
  if (!items) return <ListStart list={list} label="Loading holes" />;
  if (total === 0)
    return (
      <p className="panel-body fine-line">
        <CircleCheck size={14} aria-hidden className="fine" />
        Every input has a source.
      </p>
    );
  return (
    <>
      <ul className="findings">
        {items.map(({ ref, label, op, owner, inputs }) => (
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
      </ul>
      <ListEnd list={list} what="node" />
    </>
  );
}
