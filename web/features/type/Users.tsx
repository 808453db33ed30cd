import { Link } from '@tanstack/react-router';

import { TypeUsersDocument, type TypeUsersQuery } from '../../generated/graphql';
import { usePages } from '../../lib/pages';
import { Badge, counted, ProblemPanel, SkeletonRows } from '../../ui';
import { roleOf } from './model';
import type { Loaded } from './useType';

type Node = Extract<NonNullable<TypeUsersQuery['node']>, { __typename: 'TypeDef' }>;
type User = NonNullable<Node['usedBy']>['nodes'][number];

/** The functions, types and storage that mention a type. */
export function Users({ program, loaded, rev }: { program: string; loaded: Loaded; rev: number | undefined }) {
  const { facts, resolve, containers, truncated, holders } = loaded;
  const search = rev === undefined ? {} : { rev };
  const { items, total, problem, more, refresh } = usePages({
    document: TypeUsersDocument,
    variables: { type: facts.id },
    pageOf: ({ node }) => (node?.__typename === 'TypeDef' ? node.usedBy : null),
    keyOf: ({ ref }: User) => ref,
  });
  return (
    <>
      <section className="panel" aria-labelledby="users-title">
        <div className="panel-head">
          <h2 id="users-title">Functions</h2>
          <span className="end muted numeric">{items && total.toLocaleString('en')}</span>
        </div>
        {!items && !problem && <SkeletonRows rows={3} label="Loading the functions that mention it" />}
        {items?.length === 0 && <p className="panel-body muted">No function mentions it.</p>}
        {items && items.length > 0 && (
          <ul className="type-list">
            {items.map(({ ref, path, signature, module }) => (
              <li key={ref} className="type-user">
                <Link
                  to="/p/$program/f/$function"
                  params={{ program, function: ref }}
                  search={search}
                  className="mono"
                  title={`${path} ${signature}`}
                >
                  {path}
                </Link>
                <Badge>{roleOf(signature, facts.ref, resolve, module.path)}</Badge>
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
              Show more: {items?.length.toLocaleString('en')} of {counted(total, 'function')}
            </button>
          </div>
        )}
      </section>
      <section className="panel" aria-labelledby="containers-title">
        <div className="panel-head">
          <h2 id="containers-title">Types that contain it</h2>
          <span className="end muted numeric">{containers.length.toLocaleString('en')}</span>
        </div>
        {containers.length === 0 ? (
          <p className="panel-body muted">No other type contains it.</p>
        ) : (
          <ul className="type-list">
            {containers.map(({ ref, path, members }) => (
              <li key={ref} className="type-user">
                <Link to="/p/$program/t/$type" params={{ program, type: ref }} search={search} className="mono">
                  {path}
                </Link>
                <span className="muted">
                  {members.length === 0 ? 'through others' : <span className="mono">{members.join(', ')}</span>}
                </span>
              </li>
            ))}
          </ul>
        )}
        {truncated && <p className="panel-body muted">There are more than are listed.</p>}
      </section>
      {holders.length > 0 && (
        <section className="panel" aria-labelledby="holders-title">
          <div className="panel-head">
            <h2 id="holders-title">Storage</h2>
            <span className="end muted numeric">{holders.length.toLocaleString('en')}</span>
          </div>
          <ul className="type-list">
            {holders.map(({ ref, path, kind, type }) => (
              <li key={ref} className="type-user">
                <Link to="/p/$program/history" params={{ program }} search={{ touching: ref }} className="mono">
                  {path}
                </Link>
                <span className="muted">
                  {kind.toLowerCase()} <span className="mono">{type}</span>
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
