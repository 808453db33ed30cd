import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, CircleHelp, Search, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useClient } from 'urql';

import { VerifyBisectDocument, type VerifyBisectMutation } from '../../generated/graphql';
import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';
import { Actor, Badge, counted, Message, ProblemPanel } from '../../ui';
import { caseTold, valuesText, type Case } from './model';

const STATUS = {
  GREEN: { icon: CircleCheck, tone: 'ok' },
  RED: { icon: CircleAlert, tone: 'error' },
  STALE: { icon: CircleHelp, tone: 'warn' },
} as const;

type Report = NonNullable<VerifyBisectMutation['bisect']>;

/** One test case: what it asks, how it stands, and since when it does not. */
export function CaseRow(props: {
  test: Case;
  program: string;
  programId: string;
  at: string | null;
  onRemove(): void;
}) {
  const { test, program, programId, at, onRemove } = props;
  const { id, name, status, args, expected, lastGreen } = test;
  const told = caseTold(test);
  const client = useClient();
  const [report, setReport] = useState<Report>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const { icon: Icon, tone } = STATUS[status];

  const bisect = async () => {
    if (!lastGreen) return;
    setBusy(true);
    setProblem(undefined);
    const input = { programId, case: id, good: `r${lastGreen.number}`, bad: at ?? 'main', idempotencyKey: freshKey() };
    const { data, error } = await client.mutation(VerifyBisectDocument, { input }).toPromise();
    setBusy(false);
    if (data?.bisect) setReport(data.bisect);
    else setProblem(problemOf(error));
  };

  return (
    <li className={`case-row ${status.toLowerCase()}`} data-case={name}>
      <Badge tone={tone}>
        <Icon size={12} aria-hidden />
        {status.toLowerCase()}
      </Badge>
      <div className="case-main">
        <p>
          <strong>{name}</strong>{' '}
          <code className="muted">
            ({valuesText(args)}) {expected ? `→ ${valuesText(expected)}` : 'returns'}
          </code>
        </p>
        {told && <p className="case-message">{told}</p>}
        {report && <Blame report={report} program={program} />}
        {problem && <ProblemPanel problem={problem} />}
      </div>
      <span className="case-acts">
        {status !== 'GREEN' &&
          (lastGreen ? (
            <>
              <span className="muted">
                green at{' '}
                <Link
                  to="/p/$program/history"
                  params={{ program }}
                  search={{ sel: `r${lastGreen.number}` }}
                  className="numeric"
                >
                  r{lastGreen.number}
                </Link>
              </span>
              <button type="button" className="button" disabled={busy} onClick={() => void bisect()}>
                <Search size={13} aria-hidden />
                Find what broke it
                <span className="hidden"> ({name})</span>
              </button>
            </>
          ) : (
            <span className="muted">never seen green</span>
          ))}
        <button type="button" className="button plain icon" onClick={onRemove} aria-label={`Remove the case ${name}…`}>
          <Trash2 size={14} aria-hidden />
        </button>
      </span>
    </li>
  );
}

function Blame({ report, program }: { report: Report; program: string }) {
  const { first, message, lookedAt } = report;
  if (!first)
    return (
      <p className="muted">
        <Message>{message}</Message>
      </p>
    );
  return (
    <p className="blame">
      <span>broken by</span>
      <Link to="/p/$program/history" params={{ program }} search={{ sel: `r${first.number}` }} className="numeric">
        r{first.number}
      </Link>
      <Actor {...first.actor} />
      <span>{first.message && <Message>{first.message}</Message>}</span>
      <span className="muted">
        <Message>{message}</Message>; {counted(lookedAt, 'revision')} looked at
      </span>
    </p>
  );
}
