import { Link } from '@tanstack/react-router';
import { Pause, Play, Radio, RefreshCw, Unplug } from 'lucide-react';
import { useEffect, useEffectEvent } from 'react';

import { useOffer } from '../../lib/commands';
import { counted, Notice, ProblemPanel } from '../../ui';
import { useLive } from './live';

/** How the connection stands, and the button that keeps the picture still: for the bar of a program. */
export function LiveControls() {
  const { feed, pause, resume } = useLive();
  const { status, paused, waiting } = feed;
  useOffer([
    paused
      ? { id: 'live', label: 'Resume live', icon: Play, run: resume }
      : { id: 'live', label: 'Pause live', icon: Pause, run: pause },
  ]);
  return (
    <div className="live">
      <Status status={status} paused={paused} />
      <button
        type="button"
        className="button"
        aria-pressed={paused}
        onClick={paused ? resume : pause}
        title={paused ? 'Show what has happened meanwhile' : 'Keep the picture still'}
      >
        {paused ? <Play size={13} aria-hidden /> : <Pause size={13} aria-hidden />}
        <span className="live-word">{paused ? 'Resume' : 'Pause'}</span>
        {paused && <span className="waiting numeric">{waiting.length} waiting</span>}
      </button>
    </div>
  );
}

function Status({ status, paused }: { status: string; paused: boolean }) {
  const [Icon, word, tone] =
    status === 'connected'
      ? paused
        ? ([Radio, 'paused', 'plain'] as const)
        : ([Radio, 'live', 'ok'] as const)
      : status === 'stopped'
        ? ([Unplug, 'not live', 'error'] as const)
        : ([RefreshCw, status, 'warn'] as const);
  return (
    <output className={`badge ${tone}`} data-live={status}>
      <Icon size={12} aria-hidden />
      <span className="live-word">{word}</span>
    </output>
  );
}

/** How long it is told that a connection is back, in milliseconds. */
const TOLD = 12_000;

/** Tells of a connection that is lost, or was. */
export function LiveBanner() {
  const { name, feed, notice, stopped, gone, restart } = useLive();
  const told = feed.caughtUp !== null;
  const forget = useEffectEvent(notice);
  useEffect(() => {
    if (!told) return;
    const timer = setTimeout(forget, TOLD);
    return () => clearTimeout(timer);
  }, [told]);
  if (gone)
    return (
      <div className="live-banner">
        <Notice
          tone="error"
          title={`The program ${name} was deleted.`}
          actions={
            <Link to="/" className="button">
              All programs
            </Link>
          }
        >
          <p className="muted">What stands here is how it was last; nothing of it can be changed any more.</p>
        </Notice>
      </div>
    );
  if (stopped)
    return (
      <div className="live-banner">
        <ProblemPanel
          problem={{ ...stopped, action: `Nothing arrives any more. ${stopped.action}` }}
          onRetry={restart}
        />
      </div>
    );
  if (feed.gap) return <Line tone="warn" text="Some revisions were left out." action="Load again" onAction={restart} />;
  if (feed.status === 'reconnecting')
    return <Line tone="warn" text="The connection is lost. Reconnecting; what happens meanwhile is not lost." />;
  if (feed.caughtUp !== null) {
    const missed = feed.caughtUp === 0 ? 'nothing had happened' : `caught up ${counted(feed.caughtUp, 'revision')}`;
    return <Line tone="ok" text={`Connected again: ${missed}.`} action="Dismiss" onAction={notice} />;
  }
  return null;
}

function Line(props: { tone: 'ok' | 'warn'; text: string; action?: string; onAction?: () => void }) {
  return (
    <output className={`live-line ${props.tone}`}>
      <span>{props.text}</span>
      {props.action && (
        <button type="button" className="button plain" onClick={props.onAction}>
          {props.action}
        </button>
      )}
    </output>
  );
}
