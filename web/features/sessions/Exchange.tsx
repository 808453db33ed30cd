import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';

import { wordsOf } from '../../lib/words';
import { Ago, Badge, counted, Json, lasting, Message, Notice, SkeletonRows } from '../../ui';
import { atWork, errorOf, isOver, Now, shortId, StatusBadge, type Working } from '../runs';
import { Found } from './Found';
import { answerOf, resultOf, type Question, type Turn } from './model';

/** A turn of a conversation: what was said, asked and answered in one run, what it does, and what it came to. */
export function Exchange(props: {
  /** Who it is held with. */
  flow: string;
  turn: Turn;
  /** What the run came to, once it has ended and that is loaded. */
  state: unknown;
  loaded: boolean;
  working: readonly Working[];
  now: number;
}) {
  const { flow, turn, state, loaded, working, now } = props;
  const { id, status, input, startedBy, createdAt, endedAt, interrupts, error } = turn;
  const words = wordsOf(input);
  const over = isOver(status);
  return (
    <li className="talk-turn" data-turn={id} data-status={status}>
      <Said from="user" who={startedBy.name} at={createdAt}>
        {words === null ? <Json value={input} label="What the run was started with" /> : words}
      </Said>
      <Work turn={turn} failures={loaded ? resultOf(state).failures : []} />
      {interrupts?.map((question) => (
        <Asked key={question.id} flow={flow} question={question} />
      ))}
      {interrupts === null && <Notice tone="warn" title="What this run asks could not be read." />}
      {atWork(working, turn, []).map((each) => (
        <div key={each.node} className="talk-now">
          <Now working={each} now={now} />
        </div>
      ))}
      {over &&
        (loaded ? (
          <Outcome flow={flow} turn={turn} state={state} />
        ) : (
          <SkeletonRows rows={1} label="Loading what came of it" />
        ))}
      {status === 'FAILED' && <Failed error={error} />}
      {status === 'CANCELLED' && <p className="muted">Somebody ended the run before it was done.</p>}
      {status === 'SUPERSEDED' && <p className="muted">It was taken back, and does not count any more.</p>}
      <p className="talk-foot muted">
        <StatusBadge status={status} />
        <Link to="/runs/$run" params={{ run: id }}>
          run <span className="mono">{shortId(id)}</span>
        </Link>
        {endedAt && <span className="numeric">took {lasting(Date.parse(endedAt) - Date.parse(createdAt))}</span>}
      </p>
    </li>
  );
}

/** Something that was said, and by whom. */
export function Said(props: { from: 'user' | 'agent'; who: string; at: string | null; children: ReactNode }) {
  const { from, who, at, children } = props;
  return (
    <div className={`talk-said ${from}`} data-from={from}>
      <p className="talk-who muted">
        <strong>{who}</strong> {at === null ? <span>sending…</span> : <Ago at={at} />}
      </p>
      <div className="talk-words">{children}</div>
    </div>
  );
}

function Asked({ flow, question: asked }: { flow: string; question: Question }) {
  const { type, question, status, askedAt, decision } = asked;
  return (
    <>
      <Said from="agent" who={`${flow} asks`} at={askedAt}>
        <p>
          <Message>{question}</Message>
        </p>
        {type === 'need_confirm' && status === 'OPEN' && (
          <p className="muted">
            <Link to="/approvals" search={{ id: asked.id }}>
              What it is about
            </Link>
          </p>
        )}
      </Said>
      {decision && (
        <Said from="user" who={decision.actor.name} at={decision.at}>
          {answerOf(decision.answer)}
          {decision.reason && <p className="muted">{decision.reason}</p>}
        </Said>
      )}
      {status === 'EXPIRED' && !decision && <p className="muted">Nobody answered it in time.</p>}
      {status === 'CANCELLED' && <p className="muted">It was withdrawn.</p>}
    </>
  );
}

/** What the run is going to do, and what it has done. */
function Work({ turn, failures }: { turn: Turn; failures: ReturnType<typeof resultOf>['failures'] }) {
  const plan = turn.plan ?? [];
  const progress = turn.progress ?? [];
  // What goes on is shown, and stays open when it ends.
  const [open, setOpen] = useState(!isOver(turn.status));
  if (plan.length + progress.length + failures.length === 0) return null;
  const parts = [
    plan.length > 0 && `${counted(plan.length, 'step')} planned`,
    `${counted(progress.length, 'step')} done`,
    failures.length > 0 && counted(failures.length, 'failure'),
  ].filter((part) => part !== false);
  return (
    <details className="talk-work" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="muted">{parts.join(', ')}</summary>
      <div className="talk-work-lists">
        {plan.length > 0 && (
          <div>
            <h2>Plan</h2>
            <ol aria-label="Plan">
              {plan.map((line, at) => (
                // Lines have no names; the list is replaced as a whole.
                <li key={at}>
                  <Message>{line}</Message>
                </li>
              ))}
            </ol>
          </div>
        )}
        {progress.length > 0 && (
          <div>
            <h2>Done</h2>
            <ul aria-label="Done">
              {progress.map((line, at) => (
                // Lines have no names; the list only grows.
                <li key={at}>
                  <Message>{line}</Message>
                </li>
              ))}
            </ul>
          </div>
        )}
        {failures.length > 0 && (
          <div>
            <h2>Failures</h2>
            <ul aria-label="Failures">
              {failures.map(({ code, message, attempt, failureClass }, at) => (
                <li key={at}>
                  <code>{code}</code> <Message>{message}</Message>{' '}
                  <span className="muted">
                    {[attempt !== null && `attempt ${attempt}`, failureClass].filter(Boolean).join(', ')}
                  </span>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </details>
  );
}

/** What a run came to. */
function Outcome({ flow, turn, state }: { flow: string; turn: Turn; state: unknown }) {
  const { text, outcome, counts, found, byRules, sql, violations, pipeline } = resultOf(state, turn.progress ?? []);
  if (text === null && counts.length === 0 && found === null && sql === null && pipeline === null) return null;
  return (
    <Said
      from="agent"
      who={byRules ? `${flow} answers, by rules` : `${flow} answers`}
      at={turn.endedAt ?? turn.createdAt}
    >
      {found && <Found found={found} />}
      {text !== null && (
        <p data-answer>
          <Message>{text}</Message>
        </p>
      )}
      {sql !== null && <pre className="talk-sql">{sql}</pre>}
      {violations.length > 0 && (
        <ul className="talk-violations" aria-label="What is wrong with the draft">
          {violations.map((line, at) => (
            <li key={at}>
              <Message>{line}</Message>
            </li>
          ))}
        </ul>
      )}
      {pipeline !== null && <Json value={pipeline} label="The pipeline; it is not applied" />}
      {(counts.length > 0 || outcome !== null) && (
        <p className="talk-counts" data-counts>
          {outcome !== null && <Badge tone={outcome === 'rejected' ? 'warn' : 'plain'}>{outcome}</Badge>}
          {counts.map(({ kind, count }) => (
            <Badge key={kind} tone={TONES[kind]}>
              {count.toLocaleString('en')} {kind}
            </Badge>
          ))}
        </p>
      )}
    </Said>
  );
}

const TONES = { created: 'ok', updated: 'info', deleted: 'error', unchanged: 'plain' } as const;

function Failed({ error }: { error: unknown }) {
  const told = errorOf(error);
  return (
    <Notice tone="error" title={`The run failed${told?.node ? ` at ${told.node}` : ''}.`}>
      {told && (
        <p>
          <code>{told.code}</code> <Message>{told.message}</Message>
        </p>
      )}
    </Notice>
  );
}
