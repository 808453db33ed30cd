import { Link } from '@tanstack/react-router';
import { History } from 'lucide-react';

import { Badge } from '../../ui';
import { ShownRevision } from '../edits';
import type { Facts } from './model';

/** What the type is called and is, and which revision of it is shown. */
export function TypeHeader(props: {
  program: string;
  facts: Facts;
  rev: number | undefined;
  /** The field or variant that is selected. */
  member: string | null;
  /** Whether the newest revision does not have it any more. */
  gone: boolean;
}) {
  const { program, facts, rev, member, gone } = props;
  const { ref, path, name, kind } = facts;
  return (
    <header className="function-head">
      <h1 className="mono">
        <span className="muted">{path.slice(0, path.length - name.length)}</span>
        {name}
      </h1>
      <span className="function-badges">
        <Badge tone="info">{kind.toLowerCase()}</Badge>
        <Badge>
          <span className="mono">{ref}</span>
        </Badge>
      </span>
      <span className="function-badges">
        <Link
          to="/p/$program/history"
          params={{ program }}
          search={{ touching: ref }}
          className="button"
          title="Every change of the type"
        >
          <History size={13} aria-hidden />
          History
        </Link>
      </span>
      {!gone && (
        <ShownRevision
          rev={rev}
          link={({ rev, ...rest }) => (
            <Link
              to="/p/$program/t/$type"
              params={{ program, type: ref }}
              search={{ ...(rev !== null && { rev }), ...(member !== null && { member }) }}
              {...rest}
            />
          )}
        />
      )}
    </header>
  );
}
