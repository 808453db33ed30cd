import { Link } from '@tanstack/react-router';
import { CircleHelp, Clock, ShieldQuestion, Siren, Split } from 'lucide-react';
import { useEffect, useId, useRef } from 'react';

import { useCaller } from '../../lib/caller';
import { aboutOf } from '../../lib/words';
import { Actor, Ago, Badge, CopyButton, lasting, Long, Message, Notice, ProblemPanel, useMoment } from '../../ui';
import { AnswerForm, type Armed } from './AnswerForm';
import { DecisionLine } from './DecisionLine';
import { movedOn, STATUSES, typeWord, unsentOf, type Question } from './model';
import { useAnswer, type Outcome } from './useAnswer';
import { keepWords, useWords } from './words';
import './approvals.css';

const ICONS: Record<string, typeof CircleHelp> = {
  need_confirm: ShieldQuestion,
  need_clarification: CircleHelp,
  need_choice: Split,
  escalation: Siren,
};

/** A question, the ways to answer it, and what has come of that. */
export function QuestionCard(props: {
  question: Question;
  armed: Armed | null;
  /** What came of the reader's answer to it. */
  outcome: Outcome | undefined;
  /** Whether the run that asks is named: not on its own page. */
  named: boolean;
  onArm(armed: Armed | null): void;
  onOutcome(outcome: Outcome): void;
}) {
  const { question, armed, outcome, named, onArm, onOutcome } = props;
  const { run, status, decision } = question;
  const { busy, send } = useAnswer();
  const words = useWords().get(question.id);
  const lacks = useCaller().lacks('EDIT');
  const id = useId();
  const card = useRef<HTMLElement>(null);
  const was = useRef(armed);
  useEffect(() => {
    // What had the focus is gone with the form.
    if (was.current && !armed && !document.activeElement?.closest('main button, main input, main textarea, main a'))
      card.current?.focus({ preventScroll: true });
    was.current = armed;
  }, [armed]);
  const Icon = ICONS[question.type] ?? CircleHelp;
  const word = STATUSES[status];
  const stale = movedOn(question);
  const onSend = async (answer: unknown, reason: string) => {
    const outcome = await send(question.id, answer, reason);
    if (outcome.state !== 'failed') onArm(null);
    if (outcome.state === 'answered') keepWords(question.id, null);
    onOutcome(outcome);
  };
  const about = run && aboutOf(run);
  const first = outcome?.state === 'already' ? outcome.decision : status === 'OPEN' ? null : decision;
  const unsent = status === 'OPEN' && first === null ? null : unsentOf(words, first);
  return (
    <article ref={card} tabIndex={-1} className="question" aria-labelledby={`${id}title`}>
      <header className="question-head">
        <p className="question-line">
          <Badge tone={question.type === 'escalation' ? 'error' : 'info'}>
            <Icon size={12} aria-hidden />
            {typeWord(question.type)}
          </Badge>
          <Badge tone={word.tone}>{word.word}</Badge>
          {named && (
            <>
              <Link to="/runs/$run" params={{ run: question.runId }}>
                {run ? run.flow.name : `run ${question.runId}`}
                {about !== null && `: ${about}`}
              </Link>
              {run && (
                <Link to="/sessions/$session" params={{ session: run.session.id }}>
                  conversation
                </Link>
              )}
              {run?.program && (
                <Link to="/p/$program" params={{ program: run.program.name }} className="mono">
                  {run.program.name}
                </Link>
              )}
            </>
          )}
          <span className="muted question-since">
            asked <Ago at={question.askedAt} />
          </span>
          <Expiry question={question} />
        </p>
        {named && run && (
          <p className="question-line">
            <span className="muted">started by</span> <Actor {...run.startedBy} />
          </p>
        )}
        <h2 id={`${id}title`} className="question-text">
          <Long>{question.question}</Long>
        </h2>
      </header>
      {stale && status === 'OPEN' && (
        <Notice
          tone="warn"
          title={`The program has moved on from r${stale.from} to r${stale.to} since this was proposed.`}
          actions={
            run?.program && (
              <Link
                className="button"
                to="/p/$program/history"
                params={{ program: run.program.name }}
                search={{ sel: `r${stale.from},r${stale.to}` }}
              >
                What changed meanwhile
              </Link>
            )
          }
        >
          <p className="muted">
            The proposal was made and checked on r{stale.from}
            {question.base && question.base.branch !== 'main' && ` of ${question.base.branch}`}. Whether it still fits
            is decided by the flow when it goes on.
          </p>
        </Notice>
      )}
      {outcome && <OutcomeNotice outcome={outcome} />}
      {unsent && (
        <Notice
          tone="warn"
          title={unsent.title}
          actions={
            <>
              <CopyButton text={unsent.text} label="Copy" />
              <button type="button" className="button" onClick={() => keepWords(question.id, null)}>
                Dismiss
              </button>
            </>
          }
        >
          <blockquote className="unsent">{unsent.text}</blockquote>
        </Notice>
      )}
      {status === 'OPEN' ? (
        <AnswerForm
          question={question}
          armed={armed}
          busy={busy}
          lacks={lacks}
          words={words}
          onWrite={(next) => keepWords(question.id, next)}
          onArm={onArm}
          onSend={(answer, reason) => void onSend(answer, reason)}
        />
      ) : decision ? (
        // The notice above says it already.
        outcome?.state !== 'already' && <DecisionLine decision={decision} />
      ) : (
        <p className="muted">
          {status === 'EXPIRED'
            ? 'Nobody answered it in time.'
            : status === 'CANCELLED'
              ? 'It was withdrawn: the run does not wait for it any more.'
              : 'It was answered.'}
        </p>
      )}
    </article>
  );
}

function Expiry({ question: { expiresAt, status } }: { question: Question }) {
  const now = useMoment();
  if (!expiresAt || status !== 'OPEN') return null;
  const left = Date.parse(expiresAt) - now;
  return (
    <span
      className={left < 3_600_000 ? 'question-expiry soon' : 'question-expiry'}
      title={new Date(expiresAt).toLocaleString()}
    >
      <Clock size={12} aria-hidden />
      {left > 0 ? `expires in ${lasting(left)}` : 'its time is up'}
    </span>
  );
}

/** What came of the reader's answer, as it is: an answer that came too late is no answer. */
export function OutcomeNotice({ outcome }: { outcome: Outcome }) {
  switch (outcome.state) {
    case 'answered':
      return <output className="outcome-done">Your answer is recorded, and the run goes on.</output>;
    case 'already':
      return (
        <Notice tone="warn" title="Somebody else has answered this before you. Your answer was not taken.">
          <DecisionLine decision={outcome.decision} />
        </Notice>
      );
    case 'stale':
      return (
        <Notice tone="warn" title="The question is not what it was. Your answer was not taken.">
          <p>
            <Message>{outcome.reason}</Message>
          </p>
        </Notice>
      );
    case 'failed':
      return (
        <ProblemPanel
          problem={{ ...outcome.problem, action: `Your answer was not taken. ${outcome.problem.action}` }}
        />
      );
  }
}
