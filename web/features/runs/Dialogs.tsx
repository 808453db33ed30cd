import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { useClient } from 'urql';

import { CancelRunDocument, ForkRunDocument, MoveRunDocument, RewindRunDocument } from '../../generated/graphql';
import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';
import { counted, Message, Notice, ProblemPanel, SkeletonRows } from '../../ui';
import { forkWords, type Step } from './timeline';
import { useTrial } from './useTrial';

/** A question of the page about a run, and the button that does what is asked. */
function Ask(props: {
  title: string;
  verb: string;
  danger: boolean;
  busy: boolean;
  ready: boolean;
  problem: Problem | undefined;
  children: ReactNode;
  onDo(): void;
  onClose(): void;
}) {
  const { title, verb, danger, busy, ready, problem, children, onDo, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy && ready) onDo();
  };
  return (
    <dialog ref={dialog} className="dialog run-dialog" aria-labelledby={id} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={id}>{title}</h2>
        {children}
        {problem && <ProblemPanel problem={problem} />}
        <div className="acts">
          <span className="gap" />
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Leave it
          </button>
          <button
            type="submit"
            className={danger ? 'button danger' : 'button primary'}
            disabled={busy || !ready}
            aria-busy={busy}
          >
            {verb}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** Ends a run before it is done. */
export function CancelDialog({ run, onDone, onClose }: { run: string; onDone(): void; onClose(): void }) {
  const client = useClient();
  const id = useId();
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [key] = useState(freshKey);
  const cancel = async () => {
    const words = reason.trim();
    setBusy(true);
    // Another reason is another request.
    const input = { runId: run, ...(words && { reason: words }), idempotencyKey: `${key} ${words}` };
    const { data, error } = await client.mutation(CancelRunDocument, { input }).toPromise();
    setBusy(false);
    if (!data?.cancelRun?.run) return setProblem(problemOf(error));
    onDone();
    onClose();
  };
  return (
    <Ask
      title="Cancel this run"
      verb="Cancel the run"
      danger
      busy={busy}
      ready
      problem={problem}
      onDo={() => void cancel()}
      onClose={onClose}
    >
      <p className="muted">
        What it has committed stays, what it asks is withdrawn, and it does not go on. It can be forked from each of its
        steps.
      </p>
      <label htmlFor={id}>
        Reason <span className="muted">(optional, for the log)</span>
      </label>
      <input
        id={id}
        className="field"
        maxLength={1000}
        autoComplete="off"
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        autoFocus
      />
    </Ask>
  );
}

/** Begins another run with the state after a step. */
export function ForkDialog(props: {
  run: string;
  step: Step;
  /** The name of the program that the run is about. */
  program: string | null;
  onClose(): void;
}) {
  const { run, step, program, onClose } = props;
  const client = useClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [key] = useState(freshKey);
  const fork = async () => {
    setBusy(true);
    const input = { runId: run, atStep: step.index, idempotencyKey: key };
    const { data, error } = await client.mutation(ForkRunDocument, { input }).toPromise();
    setBusy(false);
    const made = data?.forkRun?.run;
    if (!made) return setProblem(problemOf(error));
    onClose();
    return navigate({ to: '/runs/$run', params: { run: made.id } });
  };
  return (
    <Ask
      title={`Fork from step ${step.index}`}
      verb="Fork"
      danger={false}
      busy={busy}
      ready
      problem={problem}
      onDo={() => void fork()}
      onClose={onClose}
    >
      <p className="muted">
        Another run begins as this one was after step {step.index} (<span className="mono">{step.node}</span>) and{' '}
        <Message>{forkWords(step)}</Message>
        {program !== null && (
          <>
            , on a branch of its own of <span className="mono">{program}</span>
          </>
        )}
        .
      </p>
      <p className="muted">
        What happened up to there does not happen again; what would be asked after it is asked anew. This one stays as
        it is.
      </p>
    </Ask>
  );
}

/** Takes a run back to a step; what that would undo is shown first. */
export function RewindDialog(props: {
  run: string;
  step: Step;
  /** The steps that are loaded and come after it. */
  later: readonly Step[];
  /** Whether there are steps behind those. */
  cut: boolean;
  onDone(run: string): void;
  onClose(): void;
}) {
  const { run, step, later, cut, onDone, onClose } = props;
  const to = step.index;
  const { shown, busy, problem, carryOut } = useTrial(RewindRunDocument, { runId: run, toStep: to });
  const rewind = async () => {
    const made = await carryOut();
    if (made === null) return;
    onDone(made);
    onClose();
  };
  const revisions = later.flatMap(({ revision }) => revision ?? []);
  return (
    <Ask
      title={`Rewind to step ${to}`}
      verb="Rewind"
      danger
      busy={busy}
      ready={shown !== null}
      problem={problem}
      onDo={() => void rewind()}
      onClose={onClose}
    >
      <p className="muted">
        The run goes on from step {to} (<span className="mono">{step.node}</span>). What came after it does not count
        any more, and what that has changed in a program is taken back by a new revision; other effects stay.
      </p>
      {later.length > 0 && (
        <section aria-label="What is taken back">
          <h3>
            Taken back: {counted(later.length, 'step')}
            {cut && ' and those that are not loaded'}
          </h3>
          <ol className="rewind-steps">
            {later.slice(0, 12).map((each) => (
              <li key={`${each.index} ${each.branch} ${each.attempt}`}>
                <span className="numeric muted">{each.index}</span> <span className="mono">{each.node}</span>
                {each.revision && <span> committed r{each.revision.number}</span>}
                {each.receipts > 0 && <span className="muted"> {counted(each.receipts, 'receipt')}</span>}
              </li>
            ))}
            {later.length > 12 && <li className="muted">and {counted(later.length - 12, 'other')}</li>}
          </ol>
          {revisions.length > 0 && (
            <p>
              They have committed {counted(revisions.length, 'revision')}:{' '}
              {revisions.map(({ number }) => `r${number}`).join(', ')}.
            </p>
          )}
        </section>
      )}
      {busy && !shown && !problem && <SkeletonRows rows={2} label="Working out what it comes to" />}
      {shown && (
        <section aria-label="What it comes to">
          <h3>What it comes to</h3>
          <ul className="rewind-facts">
            <li>{counted(shown.superseded, 'entry', 'entries')} of its journal will not count any more.</li>
            <li>
              {shown.reverted.length === 0
                ? 'No revision has to be taken back.'
                : `Revisions are taken back on ${shown.reverted.join(', ')}.`}
            </li>
            {shown.notUndone.length === 0 && <li>Nothing outside the database stays.</li>}
          </ul>
          {shown.notUndone.length > 0 && (
            <Notice tone="warn" title="What happened outside the database stays as it is:">
              <ul className="rewind-facts mono">
                {shown.notUndone.map((effect, at) => (
                  // The same effect may have happened several times.
                  <li key={at}>{effect}</li>
                ))}
              </ul>
            </Notice>
          )}
        </section>
      )}
    </Ask>
  );
}

/** Has a run go on as one of the version that its flow has; what keeps it from that is shown first. */
export function MoveDialog({ run, onDone, onClose }: { run: string; onDone(): void; onClose(): void }) {
  const { shown, busy, problem, carryOut } = useTrial(MoveRunDocument, { runId: run });
  const move = async () => {
    if ((await carryOut()) === null) return;
    onDone();
    onClose();
  };
  return (
    <Ask
      title="Move this run"
      verb={shown ? `Move to version ${shown.to.version}` : 'Move'}
      danger={false}
      busy={busy}
      ready={shown !== null && shown.hindrances.length === 0}
      problem={problem}
      onDo={() => void move()}
      onClose={onClose}
    >
      <p className="muted">
        It goes on as a run of the version that its flow has now, if it carries the same there and stands where it
        stands.
      </p>
      {busy && !shown && !problem && <SkeletonRows rows={2} label="Working out whether it can be moved" />}
      {shown && shown.hindrances.length === 0 && (
        <p>
          Nothing keeps it from going on: it was a run of version {shown.from.version}, and is one of version{' '}
          {shown.to.version} then.
        </p>
      )}
      {shown && shown.hindrances.length > 0 && (
        <Notice tone="warn" title={`It cannot be moved to version ${shown.to.version}:`}>
          <ul className="rewind-facts">
            {shown.hindrances.map((hindrance) => (
              <li key={hindrance}>{hindrance}</li>
            ))}
          </ul>
        </Notice>
      )}
    </Ask>
  );
}
