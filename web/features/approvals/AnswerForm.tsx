import { Check, CornerDownLeft, MessageSquare, X } from 'lucide-react';
import { useEffect, useId, useRef, useState, type FormEvent, type KeyboardEvent } from 'react';

import { answerOf, choicesOf, mannerOf, movedOn, type Answering, type Question, type Words } from './model';

/** How an answer begins. */
export type Armed = { way: 'approve' } | { way: 'reject' } | { way: 'choose'; choice: string } | { way: 'text' };

/** The ways to answer a question; once one is chosen it is confirmed, with a reason if there is one. */
export function AnswerForm(props: {
  question: Question;
  armed: Armed | null;
  busy: boolean;
  /** Why the reader may not answer. */
  lacks: string | null;
  /** What is written already. */
  words: Words | undefined;
  onWrite(words: Words): void;
  onArm(armed: Armed | null): void;
  onSend(answer: unknown, reason: string): void;
}) {
  const { question, armed, busy, lacks, words, onWrite, onArm, onSend } = props;
  const manner = mannerOf(question);
  const off = lacks === null ? {} : { disabled: true, title: lacks };
  if (manner === 'unknown')
    return (
      <p className="muted">
        This page does not know how to answer a question of the type <code>{question.type}</code>: answer it by{' '}
        <code>answerInterrupt</code>.
      </p>
    );
  if (armed && !lacks)
    return (
      <Confirm
        key={JSON.stringify([question.id, armed])}
        question={question}
        armed={armed}
        busy={busy}
        words={words}
        onWrite={onWrite}
        onCancel={() => onArm(null)}
        onSend={onSend}
      />
    );
  return (
    <div className="answer-ways">
      {manner === 'confirm' && (
        <>
          <button type="button" className="button primary" onClick={() => onArm({ way: 'approve' })} {...off}>
            <Check size={14} aria-hidden />
            Approve…
            <kbd aria-hidden>a</kbd>
          </button>
          <button type="button" className="button" onClick={() => onArm({ way: 'reject' })} {...off}>
            <X size={14} aria-hidden />
            Reject…
            <kbd aria-hidden>r</kbd>
          </button>
        </>
      )}
      {manner === 'choice' &&
        choicesOf(question.choices).map((choice, at) => (
          <button
            key={choice}
            type="button"
            className="button"
            onClick={() => onArm({ way: 'choose', choice })}
            {...off}
          >
            {choice}
            {at < 9 && <kbd aria-hidden>{at + 1}</kbd>}
          </button>
        ))}
      {manner === 'text' && (
        <button type="button" className="button primary" onClick={() => onArm({ way: 'text' })} {...off}>
          <MessageSquare size={14} aria-hidden />
          Answer…
          <kbd aria-hidden>a</kbd>
        </button>
      )}
      {lacks && <span className="muted">{lacks}</span>}
    </div>
  );
}

function verbOf(armed: Armed): string {
  switch (armed.way) {
    case 'approve':
      return 'Approve';
    case 'reject':
      return 'Reject';
    case 'choose':
      return `Choose “${armed.choice}”`;
    case 'text':
      return 'Answer';
  }
}

function Confirm(props: {
  question: Question;
  armed: Armed;
  busy: boolean;
  words: Words | undefined;
  onWrite(words: Words): void;
  onCancel(): void;
  onSend(answer: unknown, reason: string): void;
}) {
  const { question, armed, busy, words = { text: '', reason: '' }, onWrite, onCancel, onSend } = props;
  const { text, reason } = words;
  const id = useId();
  const [slip, setSlip] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const written = armed.way !== 'approve';
  // The focus stands where Enter answers, or where there is something to write first.
  useEffect(() => (field.current ?? button.current)?.focus(), []);

  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (busy) return;
    const answering: Answering =
      armed.way === 'approve'
        ? armed
        : armed.way === 'reject'
          ? { way: 'reject', feedback: text }
          : armed.way === 'choose'
            ? { ...armed, text }
            : { way: 'text', text };
    const made = answerOf(question, answering);
    if ('slip' in made) setSlip(made.slip);
    else onSend(made.answer, reason);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key === 'Escape') {
      event.preventDefault();
      onCancel();
      return;
    }
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    if (event.target instanceof HTMLTextAreaElement) {
      event.preventDefault();
      submit();
    }
  };
  const stale = movedOn(question);
  return (
    // Escape lets go wherever the focus is within, as the button does.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form className="answer-confirm" onSubmit={submit} onKeyDown={onKeyDown} aria-label={verbOf(armed)}>
      {written && (
        <div className="answer-field">
          <label htmlFor={`${id}text`}>
            {armed.way === 'reject' ? (
              <>
                What should be different <span className="muted">(optional, for the flow)</span>
              </>
            ) : armed.way === 'choose' ? (
              <>
                How, in words <span className="muted">(optional, for the flow)</span>
              </>
            ) : (
              'Your answer'
            )}
          </label>
          <textarea
            ref={field}
            id={`${id}text`}
            className="field"
            rows={3}
            maxLength={10_000}
            value={text}
            onChange={(event) => {
              onWrite({ text: event.target.value, reason });
              setSlip(null);
            }}
            aria-invalid={slip !== null}
            aria-describedby={slip === null ? undefined : `${id}slip`}
          />
          {slip && (
            <p id={`${id}slip`} className="error-line" role="alert">
              {slip}
            </p>
          )}
        </div>
      )}
      <div className="answer-field">
        <label htmlFor={`${id}reason`}>
          Reason <span className="muted">(optional, for the log)</span>
        </label>
        <input
          id={`${id}reason`}
          className="field"
          maxLength={1000}
          autoComplete="off"
          value={reason}
          onChange={(event) => onWrite({ text, reason: event.target.value })}
        />
      </div>
      <div className="answer-acts">
        <button
          ref={button}
          type="submit"
          className={armed.way === 'reject' ? 'button danger' : 'button primary'}
          disabled={busy}
          aria-busy={busy}
        >
          {verbOf(armed)}
          {armed.way === 'approve' && stale && ` on r${stale.to}, not r${stale.from}`}
          <CornerDownLeft size={13} aria-hidden />
        </button>
        <button type="button" className="button" onClick={onCancel}>
          Not yet
          <kbd aria-hidden>Esc</kbd>
        </button>
        {written && <span className="muted wide">Enter sends, Shift-Enter is a new line</span>}
      </div>
    </form>
  );
}
