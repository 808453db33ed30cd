import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleDashed, Sparkles, TriangleAlert, Wrench } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { useClient } from 'urql';

import type { Problem } from '../../lib/problems';
import { plainText } from '../../lib/text';
import { useBack } from '../../lib/useBack';
import { Badge, Message, ProblemPanel, Skeleton } from '../../ui';
import { findingKey, type Finding } from '../preview';
import { CodeButton } from './CodeButton';
import { fixesOf, type Fix, type Fixes } from './fixes';

/** One finding: what is the matter, where, and what would repair it. */
export function FindingRow(props: {
  finding: Finding;
  /** The path of the function that it is in. */
  path: string;
  program: string;
  programId: string;
  at: string | null;
  /** Whether the newest revision has brought it. */
  fresh: boolean;
  onFix(fix: Fix, fixes: Fixes): void;
}) {
  const { finding, path, program, programId, at, fresh, onFix } = props;
  const { code, message, severity, incomplete, details } = finding;
  const client = useClient();
  const id = useId();
  const [open, setOpen] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [answer, setAnswer] = useState<Fixes | Problem | null>(null);

  const key = findingKey(finding);
  useBack(answer && !('fixes' in answer) ? answer : undefined, () => setAttempt((before) => before + 1));
  useEffect(() => {
    if (!open) return;
    let left = false;
    // What repaired it at another revision stays until it is known what does at this one.
    void fixesOf(client, programId, at, finding).then((fixes) => {
      if (!left) setAnswer(fixes);
    });
    return () => {
      left = true;
    };
    // A finding is compared by what it says.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [open, client, programId, at, key, attempt]);

  const place = details?.text ? plainText(details.text).trim() : undefined;
  const Icon = severity === 'ERROR' ? CircleAlert : incomplete ? CircleDashed : TriangleAlert;
  const kind = severity === 'ERROR' ? 'error' : incomplete ? 'hole' : 'warning';
  return (
    <li className="finding-row">
      <Icon size={15} aria-hidden className={severity === 'ERROR' ? 'error' : 'warn'} />
      <div className="finding-main">
        <p>
          <span className="hidden">{kind}: </span>
          <Message>{message}</Message>
        </p>
        <p className="finding-line">
          <CodeButton code={code} />
          {details?.text && (
            <code className="finding-text muted" title={place}>
              {place}
            </code>
          )}
          {fresh && (
            <Badge tone="info">
              <Sparkles size={12} aria-hidden />
              new
            </Badge>
          )}
        </p>
      </div>
      <span className="finding-acts">
        {details?.function && (
          <Link
            to="/p/$program/f/$function"
            params={{ program, function: details.function }}
            search={details.node ? { node: details.node } : {}}
            className="button plain"
            title="Show it in the function"
          >
            Show
            <span className="hidden">
              {' '}
              {place ?? details.node ?? 'it'} in {path}
            </span>
          </Link>
        )}
        <button type="button" className="button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          <Wrench size={13} aria-hidden />
          Repairs
          <span className="hidden"> of {message}</span>
        </button>
      </span>
      <div id={id} className="finding-fixes" hidden={!open}>
        {open &&
          (!answer ? (
            <Skeleton width={220} height={28} />
          ) : 'fixes' in answer ? (
            answer.fixes.length === 0 ? (
              <p className="muted">Nothing that could repair it follows from the program.</p>
            ) : (
              answer.fixes.map((fix, index) => (
                <button
                  // Repairs have no names; the list is replaced as a whole.
                  key={index}
                  type="button"
                  className="button"
                  disabled={answer.at !== at}
                  onClick={() => onFix(fix, answer)}
                >
                  <span>
                    <Message>{fix.title}</Message>…
                  </span>
                </button>
              ))
            )
          ) : (
            <ProblemPanel problem={answer} onRetry={() => setAttempt(attempt + 1)} />
          ))}
      </div>
    </li>
  );
}
