import { Check, CornerDownLeft, X } from 'lucide-react';
import { useEffect, useId, useRef, useState, type FormEvent, type KeyboardEvent } from 'react';

import { useMedia } from '../../ui';
import { choicesOf, mannerOf, turnOf, type Manner, type Question, type Saying } from './model';

const LABELS: Record<Manner, string> = {
  words: 'What is to be done',
  confirm: 'What should be different; words alone are a no',
  choice: 'Words that go with the choice',
  text: 'Your answer',
};

/** The place where something is said: words, yes or no, a choice. */
export function Composer(props: {
  asked: Question | null;
  /** Why nothing can be said now, though the reader may say things; null where it can. */
  waits: string | null;
  /** Why the reader may not say anything. */
  lacks: string | null;
  busy: boolean;
  /** What stands in the way of nothing, and is to be known. */
  note: string | null;
  words: string;
  onWords(words: string): void;
  onSend(saying: Saying, turn: Record<string, unknown>): void;
}) {
  const { asked, waits, lacks, busy, note, words, onWords, onSend } = props;
  const id = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const touched = useMedia('(pointer: coarse)');
  const [slip, setSlip] = useState<string | null>(null);
  const manner = mannerOf(asked);
  const off = lacks !== null;
  const held = busy || waits !== null;
  useEffect(() => {
    // On a phone the keyboard would cover what is to be read.
    if (!touched) box.current?.focus({ preventScroll: true });
  }, [touched]);

  const say = (more: Omit<Saying, 'words'>) => {
    if (off || held) return;
    const saying = { words, ...more };
    const made = turnOf(asked, saying);
    if ('slip' in made) {
      setSlip(made.slip);
      box.current?.focus();
      return;
    }
    setSlip(null);
    // A button that is gone takes the focus with it.
    box.current?.focus({ preventScroll: true });
    onSend(saying, made.turn);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    say({});
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    say({});
  };
  const way = { disabled: off || held, title: lacks ?? waits ?? undefined };
  const hint = lacks ?? note ?? waits ?? 'Enter sends, Shift-Enter is a new line';
  return (
    <form className="talk-composer" onSubmit={submit} aria-label="Say something">
      {manner === 'confirm' && (
        <div className="talk-ways">
          <button type="button" className="button primary" onClick={() => say({ confirm: true })} {...way}>
            <Check size={14} aria-hidden />
            Yes
          </button>
          <button type="button" className="button" onClick={() => say({ confirm: false })} {...way}>
            <X size={14} aria-hidden />
            {words.trim() === '' ? 'No' : 'No, with these words'}
          </button>
        </div>
      )}
      {manner === 'choice' && asked && (
        <div className="talk-ways" role="group" aria-label="Choices">
          {choicesOf(asked).map((choice) => (
            <button key={choice} type="button" className="button" onClick={() => say({ choice })} {...way}>
              {choice}
            </button>
          ))}
        </div>
      )}
      <label htmlFor={`${id}words`} className={manner === 'words' ? 'hidden' : 'muted talk-label'}>
        {LABELS[manner]}
      </label>
      <div className="talk-write">
        <textarea
          ref={box}
          id={`${id}words`}
          className="field"
          rows={2}
          maxLength={60_000}
          value={words}
          onChange={(event) => {
            onWords(event.target.value);
            setSlip(null);
          }}
          onKeyDown={onKeyDown}
          disabled={off}
          aria-invalid={slip !== null}
          aria-describedby={`${id}hint`}
          placeholder={manner === 'words' ? 'What is to be done' : undefined}
        />
        <button
          type="submit"
          className="button primary"
          disabled={off || held}
          aria-busy={busy}
          title={lacks ?? undefined}
        >
          Send
          <CornerDownLeft size={13} aria-hidden />
        </button>
      </div>
      <p id={`${id}hint`} className={slip === null ? 'talk-hint muted' : 'talk-hint error-line'}>
        {slip ?? hint}
      </p>
      <p className="hidden" role="alert">
        {slip}
      </p>
    </form>
  );
}
