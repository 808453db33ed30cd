import { Link } from '@tanstack/react-router';
import { MessageSquarePlus, MessagesSquare } from 'lucide-react';
import { useEffect } from 'react';

import { useCaller } from '../../lib/caller';
import { LiveMark } from '../../lib/LiveMark';
import { setTitle } from '../../lib/title';
import { Actor, Ago, counted, Empty, Message, ProblemPanel, SkeletonRows } from '../../ui';
import { StatusBadge } from '../runs';
import { BeginForm } from './BeginForm';
import { nameOf, type Session } from './model';
import { useSessions } from './useSessions';
import './sessions.css';

/** The conversations, the newest first. */
export function SessionsView() {
  const lacks = useCaller().lacks('EDIT');
  const { items, total, problem, fetching, more, refresh, live } = useSessions();
  useEffect(() => setTitle('Conversations'), []);
  return (
    <div className="page">
      <div className="page-head">
        <h1>Conversations</h1>
        <LiveMark live={live} />
        {items && items.length > 0 && <span className="muted numeric">{counted(total, 'conversation')}</span>}
        <div className="end">
          <Link to="/sessions/new" className="button primary">
            <MessageSquarePlus size={14} aria-hidden />
            New conversation
          </Link>
        </div>
      </div>
      {problem && <ProblemPanel problem={problem} onRetry={refresh} />}
      {!items && !problem && (
        <div className="panel">
          <SkeletonRows rows={8} height={56} label="Loading conversations" />
        </div>
      )}
      {items?.length === 0 && (
        <div className="panel">
          <Empty icon={MessagesSquare} title="No conversation yet">
            <p>
              Say what is to be done: a flow plans it, does it step by step, and asks before it deletes anything or when
              it does not know how to go on.
            </p>
          </Empty>
          {lacks === null ? (
            <div className="panel-body talk-first">
              <BeginForm />
            </div>
          ) : (
            <p className="panel-body muted">{lacks}</p>
          )}
        </div>
      )}
      {items && items.length > 0 && (
        <div className="panel" aria-busy={fetching}>
          <ol className="talks" aria-label="Conversations, the newest first">
            {items.map((session) => (
              <li key={session.id}>
                <Row session={session} />
              </li>
            ))}
          </ol>
          {more && (
            <div className="more">
              <button type="button" className="button" onClick={more}>
                Show more: {items.length} of {counted(total, 'conversation')}
              </button>
            </div>
          )}
        </div>
      )}
    </div>
  );
}

function Row({ session }: { session: Session }) {
  const { id, summary, workflow, startedBy, createdAt, updatedAt, runs } = session;
  const name = nameOf(session);
  const newest = runs?.nodes[0];
  return (
    <Link to="/sessions/$session" params={{ session: id }} className="talk-row" data-session={id}>
      <span className="talk-row-what">
        <strong className="talk-row-line" title={name}>
          {name}
        </strong>
        {summary !== newest?.status.toLowerCase() && (
          <span className="muted talk-row-line">
            {summary ? <Message>{summary}</Message> : 'nothing has been said yet'}
          </span>
        )}
      </span>
      <span className="talk-row-flow">
        <span className="mono">{workflow}</span>
        {newest && <StatusBadge status={newest.status} />}
        {runs && runs.totalCount > 1 && <span className="muted numeric">{counted(runs.totalCount, 'run')}</span>}
      </span>
      <span className="talk-row-who">
        <Actor {...startedBy} />
        <Ago at={updatedAt ?? createdAt} />
      </span>
    </Link>
  );
}
