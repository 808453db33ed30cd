import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleDashed, History, Pencil, Pin, Play } from 'lucide-react';

import { Badge, Notice } from '../../ui';
import { useLive } from '../edits';
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
          {head.signature}
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
            <Link
              to="/p/$program/f/$function/edit"
              params={{ program, function: head.ref }}
              search={selected === null ? {} : { node: selected }}
              className="button"
            >
              <Pencil size={13} aria-hidden />
              Edit
            </Link>
          )}
          {!head.import && (
            <Link
              to="/p/$program/f/$function/run"
              params={{ program, function: head.ref }}
              search={rev === undefined ? {} : { rev }}
              className="button"
            >
              <Play size={13} aria-hidden />
              Run
            </Link>
          )}
        </span>
        {!gone && <Revision program={program} head={head} rev={rev} selected={selected} />}
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

function Revision(props: { program: string; head: Head; rev: number | undefined; selected: string | null }) {
  const { program, head, rev, selected } = props;
  const { feed } = useLive();
  const to = '/p/$program/f/$function' as const;
  const params = { program, function: head.ref };
  const node = selected === null ? {} : { node: selected };
  if (rev === undefined)
    return (
      <span className="function-revision">
        <Link
          to={to}
          params={params}
          search={feed.head === null ? node : { rev: feed.head, ...node }}
          title="Keep this revision"
          className="button plain"
        >
          <Pin size={13} aria-hidden />
          <span className="numeric">r{feed.head}</span>
        </Link>
      </span>
    );
  const old = feed.head !== null && rev < feed.head;
  return (
    <output className="function-revision pinned">
      <History size={13} aria-hidden />
      <span>
        {old ? (
          <>
            This is <b>r{rev}</b>, read-only; the head is r{feed.head}.
          </>
        ) : (
          <>
            Kept at <b>r{rev}</b>: changes do not show.
          </>
        )}
      </span>
      <Link to={to} params={params} search={node} className="button">
        Go to the head
      </Link>
    </output>
  );
}
