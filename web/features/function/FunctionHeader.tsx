import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleDashed, History, Pencil, Play } from 'lucide-react';

import { Allowed } from '../../lib/Allowed';
import { Badge, Notice } from '../../ui';
import { ShownRevision } from '../edits';
import { TypeText } from '../type';
import type { Head } from './model';

/** What the function is called and takes, and which revision of it is shown. */
export function FunctionHeader(props: {
  program: string;
  head: Head;
  rev: number | undefined;
  selected: string | null;
  /** Whether the newest revision does not have it any more. */
  gone: boolean;
  /** The revision whose content is shown. */
  shown: number | null;
}) {
  const { program, head, rev, selected, gone, shown } = props;
  return (
    <>
      <header className="function-head">
        <h1 className="mono">
          <span className="muted">{head.module.path}::</span>
          {head.name}
        </h1>
        <code className="signature muted" title={head.signature}>
          <TypeText module={head.module.path}>{head.signature}</TypeText>
        </code>
        <span className="function-badges">
          {head.visibility !== 'PRIVATE' && <Badge>{head.visibility.toLowerCase()}</Badge>}
          {head.effectBound !== 'ANY' && <Badge>{head.effectBound.toLowerCase()}</Badge>}
          {head.complete ? (
            <Badge tone="ok">
              <CircleCheck size={12} aria-hidden />
              complete
            </Badge>
          ) : (
            <Badge tone="warn">
              <CircleDashed size={12} aria-hidden />
              incomplete
            </Badge>
          )}
        </span>
        <span className="function-badges">
          <Link
            to="/p/$program/history"
            params={{ program }}
            search={{ touching: selected ?? head.ref }}
            className="button"
            title={selected === null ? 'Every change of the function' : `Every change of ${selected}`}
          >
            <History size={13} aria-hidden />
            History
          </Link>
          {!head.import && rev === undefined && !gone && (
            <Allowed scope="EDIT" icon={Pencil} word="Edit">
              <Link
                to="/p/$program/f/$function/edit"
                params={{ program, function: head.ref }}
                search={selected === null ? {} : { node: selected }}
                className="button"
              >
                <Pencil size={13} aria-hidden />
                Edit
              </Link>
            </Allowed>
          )}
          {!head.import && (
            <Allowed scope="SIMULATE" icon={Play} word="Run">
              <Link
                to="/p/$program/f/$function/run"
                params={{ program, function: head.ref }}
                search={rev === undefined ? {} : { rev }}
                className="button"
              >
                <Play size={13} aria-hidden />
                Run
              </Link>
            </Allowed>
          )}
        </span>
        {!gone && (
          <ShownRevision
            rev={rev}
            link={({ rev, ...rest }) => (
              <Link
                to="/p/$program/f/$function"
                params={{ program, function: head.ref }}
                search={{ ...(rev !== null && { rev }), ...(selected !== null && { node: selected }) }}
                {...rest}
              />
            )}
          />
        )}
      </header>
      {gone && (
        <div className="function-notice">
          <Notice tone="warn" title="The newest revision does not have this function any more.">
            <p className="muted">
              What you see is how it was{shown === null ? ' last' : ` at r${shown}`}. The feed of edits says who removed
              it.
            </p>
          </Notice>
        </div>
      )}
    </>
  );
}
