import { Link, useNavigate } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, FlaskConical, LoaderCircle, StepForward, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useClient } from 'urql';

import { useCaller } from '../../lib/caller';
import { keepCase } from '../../lib/cases';
import { freshKey } from '../../lib/key';
import type { Problem } from '../../lib/problems';
import { demandOf } from '../../lib/text';
import { Badge, Message, ProblemPanel } from '../../ui';
import { argsOf, endingOf, valuesText, type Attempt, type Contracted, type Counterexample } from './model';

const ICONS = { ok: CircleCheck, warn: TriangleAlert, error: CircleAlert, plain: LoaderCircle };

/** A function with its contracts, and how far a search for inputs that break it has come. */
export function ContractRow(props: {
  contracted: Contracted;
  program: string;
  programId: string;
  /** The revision that is looked at; null: the head. */
  at: string | null;
  chosen: boolean;
  disabled: boolean;
  attempt: Attempt | undefined;
  onToggle(): void;
}) {
  const { contracted, program, programId, at, chosen, disabled, attempt, onToggle } = props;
  const { ref, path, contracts } = contracted;
  return (
    <li className="contract-row">
      <label className="contract-check">
        <input type="checkbox" checked={chosen} disabled={disabled} onChange={onToggle} />
        <span className="hidden">Check {path}</span>
      </label>
      <div className="contract-main">
        <p className="contract-line">
          <Link to="/p/$program/f/$function" params={{ program, function: ref }} className="mono">
            {path}
          </Link>
          {attempt && <Progress attempt={attempt} running={disabled} />}
        </p>
        <ul className="contract-list">
          {contracts.map(({ ref, kind, message, text }) => (
            <li key={ref}>
              <Badge tone={kind === 'REQUIRE' ? 'violet' : 'teal'}>{kind.toLowerCase()}</Badge>
              <span>{message}</span>
              <code className="muted">{demandOf(text ?? '').join('; ')}</code>
            </li>
          ))}
          {contracts.length === 0 && <li className="muted">no contract: it breaks where it traps</li>}
        </ul>
        {attempt?.counterexample && (
          <Broken found={attempt.counterexample} program={program} programId={programId} at={at} />
        )}
      </div>
    </li>
  );
}

function Progress({ attempt, running }: { attempt: Attempt; running: boolean }) {
  const { tried, discarded, undecided, coverage } = attempt;
  const { word, tone } = endingOf(attempt, running);
  const Icon = ICONS[tone];
  const percent = Math.round(coverage * 100);
  return (
    <span className="attempt">
      <span className="muted numeric">
        {tried.toLocaleString('en')} tried
        {discarded > 0 && `, ${discarded.toLocaleString('en')} unfit`}
        {undecided > 0 && `, ${undecided.toLocaleString('en')} undecided`}
      </span>
      <span className="coverage" title="The part of the branches that was reached">
        <progress max={100} value={percent} aria-label="Branches reached" />
        <span className="muted numeric">{percent}% of branches</span>
      </span>
      <Badge tone={tone}>
        <Icon size={12} aria-hidden />
        {word}
      </Badge>
    </span>
  );
}

/** The smallest input that was found to break a function; it can become a test case, and be run step by step. */
function Broken(props: { found: Counterexample; program: string; programId: string; at: string | null }) {
  const { found, program, programId, at } = props;
  const client = useClient();
  const navigate = useNavigate();
  const caller = useCaller();
  const lacks = caller.lacks('SIMULATE');
  const mayNotKeep = caller.lacks('EDIT');
  const [kept, setKept] = useState<string | null>(found.case?.name ?? null);
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const { args, outcome, function: owner } = found;

  const keep = async () => {
    setBusy(true);
    setProblem(undefined);
    const test = { programId, function: owner.ref, args: argsOf(found), idempotencyKey: freshKey() };
    const made = await keepCase(client, test, `breaks on ${valuesText(args) || 'nothing'}`);
    setBusy(false);
    if ('name' in made) setKept(made.name);
    else setProblem(made);
  };
  const open = async () => {
    setBusy(true);
    setProblem(undefined);
    const { begin } = await import('../simulation');
    const run = { args: argsOf(found) };
    const begun = await begin(client, {
      programId,
      at,
      function: owner.ref,
      run,
      origin: 'a counterexample',
      key: freshKey(),
    });
    setBusy(false);
    if (!('sim' in begun)) return setProblem(begun);
    void navigate({
      to: '/p/$program/f/$function/run',
      params: { program, function: owner.ref },
      search: { sim: begun.sim },
    });
  };
  return (
    <div className="broken">
      <p>
        <CircleAlert size={14} aria-hidden className="error" />
        <code>({valuesText(args)})</code>{' '}
        <span>
          <Message>{endOf(outcome)}</Message>
        </span>
      </p>
      <button
        type="button"
        className="button"
        disabled={busy || lacks !== null}
        title={lacks ?? undefined}
        onClick={() => void open()}
      >
        <StepForward size={13} aria-hidden />
        Step through
        <span className="hidden"> what breaks {owner.path}</span>
      </button>
      {kept === null ? (
        <button
          type="button"
          className="button"
          disabled={busy || mayNotKeep !== null}
          title={mayNotKeep ?? undefined}
          onClick={() => void keep()}
        >
          <FlaskConical size={13} aria-hidden />
          Keep as a test case
        </button>
      ) : (
        <span className="muted">kept as the case “{kept}”</span>
      )}
      {problem && <ProblemPanel problem={problem} />}
    </div>
  );
}

function endOf(outcome: Counterexample['outcome']): string {
  switch (outcome.__typename) {
    case 'Returned':
      return `returns ${valuesText(outcome.values)}`;
    case 'Trapped':
      return `${outcome.code}: ${outcome.message}`;
    case 'ContractViolated':
      return `violates “${outcome.message}”`;
    case 'LimitReached':
    case 'ReachedHole':
    case 'NotVerified':
      return outcome.message;
    case 'Cancelled':
      return 'was cancelled';
  }
}
