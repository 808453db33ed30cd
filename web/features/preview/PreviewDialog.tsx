import { RotateCw } from 'lucide-react';
import { useEffect, useId, useRef, useState, type FormEvent, type ReactNode } from 'react';

import { freshKey } from '../../lib/key';
import { Notice, SkeletonRows } from '../../ui';
import { isStale, type Choices, type Preview } from './model';
import { Outcome } from './Outcome';
import './preview.css';

/** How a change is asked for: tried or done, on the head that the reader has seen. */
export interface Asking {
  dryRun: boolean;
  /** The number of the revision that the change is based on: the head that the reader has seen, unless it says another one. */
  head: number | null;
  message: string | null;
  /** Under which it is done once. */
  key: string;
  choices: Choices;
}

/** A change that is previewed before it is done. */
export interface Change {
  /** What is to be done: `Undo the last change`. */
  title: string;
  /** The button that does it: `Undo`. */
  verb: string;
  /** On what, in a line. */
  subject: ReactNode;
  /** Whether conflicts can be settled by taking a side. */
  resolvable: boolean;
  /** The revision that it is based on, where it was made for one. */
  base?: number | null;
  ask(asking: Asking): Promise<Preview>;
}

interface Props {
  change: Change;
  program: string;
  /** The newest head of the branch that moves, as it is known now. */
  head: number | null;
  onDone(revision: number | null): void;
  onClose(): void;
}

const NONE: Choices = new Map();

/** Shows what a change would come to, and does it when told so. What is stale is said before, not after. */
export function PreviewDialog({ change, program, head, onDone, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const [seen, setSeen] = useState(head);
  const [choices, setChoices] = useState<Choices>(NONE);
  const [shown, setShown] = useState<{ preview: Preview; choices: Choices } | null>(null);
  const [busy, setBusy] = useState(true);
  const [attempt, setAttempt] = useState(0);
  const [key, setKey] = useState(freshKey);
  const message = useRef<HTMLInputElement>(null);

  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  useEffect(() => {
    let left = false;
    setBusy(true);
    setKey(freshKey());
    void change
      .ask({ dryRun: true, head: change.base ?? seen, message: null, key: freshKey(), choices })
      .then((preview) => {
        if (left) return;
        setShown({ preview, choices });
        setBusy(false);
      });
    return () => {
      left = true;
    };
    // The choices are sent when the reader asks for another preview.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [change, seen, attempt]);

  const preview = shown?.preview;
  const stale = isStale(seen, head);
  const chosen = shown !== null && choices !== shown.choices;
  const again = () => {
    setSeen(head);
    setAttempt((before) => before + 1);
  };
  const ready = preview?.state === 'made' && !busy && !stale && !chosen;

  const carryOut = async (event: FormEvent) => {
    event.preventDefault();
    if (!ready) return;
    setBusy(true);
    const words = message.current?.value.trim() || null;
    const done = await change.ask({ dryRun: false, head: change.base ?? seen, message: words, key, choices });
    setBusy(false);
    if (done.state === 'made') {
      dialog.current?.close();
      onDone(done.revision);
    } else setShown({ preview: done, choices });
  };

  return (
    <dialog ref={dialog} className="dialog preview" aria-labelledby={title} onClose={onClose}>
      <form onSubmit={(event) => void carryOut(event)}>
        <header>
          <h2 id={title}>{change.title}</h2>
          <p className="muted">{change.subject}</p>
        </header>
        <div className="preview-body" data-busy={busy}>
          {stale && (
            <Notice
              tone="warn"
              title={`The branch has moved: its head is r${head}, this preview is of r${seen}.`}
              actions={
                <button type="button" className="button" onClick={again}>
                  <RotateCw size={14} aria-hidden />
                  Preview again
                </button>
              }
            />
          )}
          {preview ? (
            <Outcome
              preview={preview}
              program={program}
              choices={choices}
              onChoose={
                change.resolvable ? (ref, side) => setChoices((before) => new Map(before).set(ref, side)) : undefined
              }
              onRetry={again}
            />
          ) : (
            <SkeletonRows rows={4} label="Working out what would happen" />
          )}
        </div>
        <footer>
          <label className="preview-message">
            <span className="muted">Why, for the log</span>
            {/* The dialog begins where there is something to say; Enter does what it shows. */}
            <input
              ref={message}
              className="field"
              maxLength={1000}
              placeholder="optional"
              autoComplete="off"
              autoFocus
            />
          </label>
          <div className="acts">
            <button type="button" className="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
            {chosen && !stale && (
              <button type="button" className="button" onClick={again}>
                Preview again
              </button>
            )}
            <button type="submit" className="button primary" disabled={!ready}>
              {change.verb}
            </button>
          </div>
        </footer>
      </form>
    </dialog>
  );
}
