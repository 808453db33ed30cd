import { Link } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { useClient } from 'urql';

import { useCaller } from '../../lib/caller';
import { keepCase } from '../../lib/cases';
import { freshKey } from '../../lib/key';
import type { Problem } from '../../lib/problems';
import { Message } from '../../ui';
import { isWhole, sent } from './given';
import { short, textOf } from './model';
import { begunRun, rememberRun } from './recent';

/** Keeps what a run came to as a test case of its function, where everything that the run was given is known. */
export function KeepCase(props: { sim: string; program: string; values: readonly unknown[] }) {
  const { sim, program, values } = props;
  const client = useClient();
  const lacks = useCaller().lacks('EDIT');
  const [begun] = useState(() => begunRun(sim));
  const [kept, setKept] = useState(begun?.kept ?? null);
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  if (!begun || !values.every(isWhole)) return null;

  const keep = async () => {
    setBusy(true);
    setProblem(undefined);
    const { args, stdin, limits } = begun.run;
    const test = {
      programId: begun.program,
      function: begun.function,
      args,
      expected: values.map((value) => sent(textOf(value))),
      ...(stdin != null && { stdin }),
      ...(limits != null && { limits }),
      idempotencyKey: freshKey(),
    };
    const list = (all: readonly unknown[]) => all.map((value) => short(value)).join(', ') || 'nothing';
    const made = await keepCase(client, test, `gives ${list(values)} for ${list(args)}`);
    setBusy(false);
    if (!('name' in made)) return setProblem(made);
    setKept(made.name);
    rememberRun({ ...begun, kept: made.name });
  };
  if (kept !== null)
    return (
      <span className="muted">
        kept as the{' '}
        <Link to="/p/$program/verify" params={{ program }} search={{ tab: 'cases' }}>
          case “{kept}”
        </Link>
      </span>
    );
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={busy || lacks !== null}
        title={lacks ?? 'After every change it is tried whether this still comes of these inputs'}
        onClick={() => void keep()}
      >
        <FlaskConical size={13} aria-hidden />
        Keep as a test case
      </button>
      {problem && (
        <span role="alert">
          <Message>{problem.message}</Message>
        </span>
      )}
    </>
  );
}
