import { Link } from '@tanstack/react-router';
import { Braces } from 'lucide-react';

import { OverviewTypesDocument, type OverviewTypesQuery } from '../../generated/graphql';
import { usePages } from '../../lib/pages';
import { counted } from '../../ui';
import { useLive } from '../edits';
import { ListEnd, ListStart } from './ListEnd';

type Listed = NonNullable<NonNullable<OverviewTypesQuery['program']>['types']>['nodes'][number];

/** The types of a program: a page, and more when asked for. */
export function TypeList({ at }: { at: string | null }) {
  const { programId, name } = useLive();
  const list = usePages({
    document: OverviewTypesDocument,
    variables: { id: programId, at },
    pageOf: ({ program }) => program?.types,
    keyOf: ({ ref }: Listed) => ref,
  });
  const { items, total } = list;
  if (!items) return <ListStart list={list} label="Loading types" />;
  if (total === 0) return <p className="panel-body muted">The program has no types of its own.</p>;
  return (
    <>
      <ul className="findings">
        {items.map(({ ref, path, kind, fields, variants }) => (
          <li key={ref}>
            <Link to="/p/$program/t/$type" params={{ program: name, type: ref }} className="finding">
              <Braces size={14} aria-hidden className="muted" />
              <span>
                <span className="mono">{path}</span>
                <span className="muted">
                  {kind.toLowerCase()} of{' '}
                  {kind === 'STRUCT' ? counted(fields.length, 'field') : counted(variants.length, 'variant')}
                </span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <ListEnd list={list} what="type" />
    </>
  );
}
