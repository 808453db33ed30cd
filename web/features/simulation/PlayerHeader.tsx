import { Link } from '@tanstack/react-router';
import { Play, Radio, RefreshCw, Unplug } from 'lucide-react';

import { Allowed } from '../../lib/Allowed';
import type { LiveStatus } from '../../lib/follow';
import { Badge } from '../../ui';
import { Elapsed } from './Elapsed';
import { short, STATUS, type State } from './model';
import { useNames } from './names';
import { useGiven } from './useGiven';

const LIVE: Record<LiveStatus, { icon: typeof Radio; word: string; tone: 'ok' | 'warn' | 'plain' }> = {
  connected: { icon: Radio, word: 'followed', tone: 'ok' },
  connecting: { icon: RefreshCw, word: 'connecting', tone: 'warn' },
  reconnecting: { icon: RefreshCw, word: 'reconnecting', tone: 'warn' },
  stopped: { icon: Unplug, word: 'not followed', tone: 'plain' },
};

/** What is run, where it stands, and how news of it arrives. */
export function PlayerHeader(props: { program: string; state: State; live: LiveStatus; functionRef: string }) {
  const { program, state, live, functionRef } = props;
  const names = useNames();
  const rev = state.program.revision?.number;
  const { word, tone } = STATUS[state.status];
  const { icon: Icon, word: heard, tone: clear } = LIVE[live];
  const run = state.function;
  const begun = useGiven(state);
  const given = begun?.args.map((value) => short(value, 24)).join(', ');
  const from = begun?.origin == null ? 'begun elsewhere' : `from ${begun.origin}`;
  const place = names.get(functionRef)?.path ?? functionRef;
  return (
    <header className="function-head player-head">
      <h1 className="mono">
        <span className="muted">run </span>
        {run?.path ?? 'a function that is gone'}
      </h1>
      <Badge tone={tone} {...(state.status === 'RUNNING' && { title: 'Where it has come is told when it stands' })}>
        {word}
        {state.status === 'RUNNING' && <Elapsed />}
      </Badge>
      {begun && (
        <span
          className="muted player-in"
          title={begun.origin === null ? 'Somebody else began it, or another browser' : `Its inputs came ${from}`}
        >
          with <code>{given || 'nothing'}</code>, {from}
        </span>
      )}
      {run && functionRef !== run.ref && (
        <span className="muted player-in">
          in{' '}
          <Link
            to="/p/$program/f/$function"
            params={{ program, function: functionRef }}
            search={rev === undefined ? {} : { rev }}
            className="mono"
          >
            {place}
          </Link>
        </span>
      )}
      <span className="function-revision">
        <span className={`badge ${clear}`} data-follow={live} title="Whoever moves this run, it moves here">
          <Icon size={12} aria-hidden />
          {heard}
        </span>
        {rev !== undefined && <Badge>r{rev}</Badge>}
        {run && (
          <Allowed scope="SIMULATE" icon={Play} word="New run">
            <Link
              to="/p/$program/f/$function/run"
              params={{ program, function: run.ref }}
              search={rev === undefined ? {} : { rev }}
              className="button"
            >
              New run
            </Link>
          </Allowed>
        )}
      </span>
    </header>
  );
}
