import { CircleAlert, CircleCheck, LoaderCircle, TriangleAlert } from 'lucide-react';

import { plainText } from '../../lib/text';
import { Badge, counted, Counts, Message, ProblemPanel } from '../../ui';
import type { Mistake, Tried } from './model';

/** What a dry run says of what is written. */
export function Findings(props: { id: string; tried: Tried; onGo?: (mistake: Mistake) => void; onRetry: () => void }) {
  const { id, tried, onGo, onRetry } = props;
  const outcome = tried.state === 'done' ? tried.outcome : tried.state === 'trying' ? tried.last : null;
  return (
    <div className="tried" data-tried={tried.state === 'done' ? tried.outcome.__typename : tried.state}>
      <p id={id} role="status" className="tried-head">
        <Verdict tried={tried} />
      </p>
      {tried.state === 'failed' && <ProblemPanel problem={tried.problem} onRetry={onRetry} />}
      {outcome?.__typename === 'EditRejected' && (
        <ul className="tried-list" aria-label="Mistakes">
          {outcome.errors.map((mistake, at) => (
            // Mistakes have no names; the list is replaced as a whole.
            <li key={at}>
              <CircleAlert size={13} aria-hidden className="wrong" />
              <div>
                {mistake.line !== null && onGo ? (
                  <button type="button" className="link numeric" onClick={() => onGo(mistake)}>
                    line {mistake.line}
                    {mistake.column !== null && `, column ${mistake.column}`}
                  </button>
                ) : (
                  <code className="muted">{mistake.code}</code>
                )}{' '}
                <Message>{mistake.message}</Message>
                <Near mistake={mistake} />
              </div>
            </li>
          ))}
        </ul>
      )}
      {outcome?.__typename === 'EditApplied' &&
        (outcome.diagnosticsAdded.length > 0 || outcome.diagnosticsResolved.length > 0) && (
          <ul className="tried-list" aria-label="What the verifier says of it">
            {outcome.diagnosticsAdded.slice(0, 20).map(({ code, message, severity, details }, at) => (
              <li key={at}>
                <TriangleAlert size={13} aria-hidden className={severity === 'ERROR' ? 'wrong' : 'warn'} />
                <div>
                  <code className="muted">{code}</code> <Message>{message}</Message>
                  {(details?.function || details?.text) && (
                    <span className="muted tried-near">
                      {details.function && (
                        <>
                          in <code>{details.function}</code>
                        </>
                      )}
                      {details.text && (
                        <>
                          {details.function && ': '}
                          <code>{plainText(details.text).trim()}</code>
                        </>
                      )}
                    </span>
                  )}
                </div>
              </li>
            ))}
            {outcome.diagnosticsResolved.slice(0, 20).map(({ code, message }, at) => (
              <li key={`gone ${at}`}>
                <CircleCheck size={13} aria-hidden className="good" />
                <div>
                  gone: <code className="muted">{code}</code> <Message>{message}</Message>
                </div>
              </li>
            ))}
          </ul>
        )}
    </div>
  );
}

function Near({ mistake: { expected, found, candidates, details } }: { mistake: Mistake }) {
  const parts = [
    expected.length > 0 && `expected ${expected.join(' or ')}`,
    details?.expectedType &&
      `takes ${details.expectedType}${details.actualType ? `, found ${details.actualType}` : ''}`,
    found !== null && expected.length > 0 && `found ${found}`,
    candidates.length > 0 && `there is ${candidates.slice(0, 6).join(', ')}`,
  ].filter(Boolean);
  return parts.length === 0 ? null : <span className="muted tried-near">{parts.join(' · ')}</span>;
}

function Verdict({ tried }: { tried: Tried }) {
  switch (tried.state) {
    case 'idle':
      return <span className="muted">What you write is tried while you write it.</span>;
    case 'trying':
      return (
        <>
          <LoaderCircle size={13} aria-hidden className="muted" />
          <span className="muted">trying…</span>
        </>
      );
    case 'failed':
      return <Badge tone="error">not tried</Badge>;
    case 'done': {
      const { outcome } = tried;
      switch (outcome.__typename) {
        case 'EditApplied':
          return (
            <>
              {outcome.diagnosticsAdded.length > 0 ? (
                <Badge tone="warn">
                  <TriangleAlert size={12} aria-hidden />
                  can be applied, with {counted(outcome.diagnosticsAdded.length, 'new finding')}
                </Badge>
              ) : (
                <Badge tone="ok">
                  <CircleCheck size={12} aria-hidden />
                  can be applied
                </Badge>
              )}
              <Counts {...outcome.changed} />
            </>
          );
        case 'EditRejected':
          return (
            <Badge tone="error">
              <CircleAlert size={12} aria-hidden />
              {outcome.errors.length === 1 ? '1 mistake' : `${outcome.errors.length} mistakes`}
              {outcome.suppressed > 0 && `, ${outcome.suppressed} more follow`}
            </Badge>
          );
        case 'EditConflict':
          return (
            <Badge tone="warn">
              <TriangleAlert size={12} aria-hidden />
              conflict: {outcome.conflicts[0]?.message}
            </Badge>
          );
      }
    }
  }
}
