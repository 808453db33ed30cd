import { RotateCw } from 'lucide-react';
import { useEffect, useId, useRef, useState, type FormEvent, type ReactNode } from 'react';

import type { ResolutionInput } from '../../generated/graphql';
import { useCaller } from '../../lib/caller';
import { freshKey } from '../../lib/key';
import { useBack } from '../../lib/useBack';
import { Message, Notice, SkeletonRows } from '../../ui';
import { isStale, isVoid, type Conflict, type Preview } from './model';
import { Outcome } from './Outcome';
import { gathered, keepChoices, keptChoices, NO_CHOICES, resolutionsOf, type Choices, type Written } from './settling';
import './preview.css';

/** How a change is asked for: tried or done, on the head that the reader has seen. */
export interface Asking {
  dryRun: boolean;
  /** The number of the revision that the change is based on: the head that the reader has seen, unless it says another one. */
  head: number | null;
  message: string | null;
  /** Under which it is done once. */
  key: string;
  /** What is to be done about conflicts. */
  resolutions: readonly ResolutionInput[];
}

/** A change that is previewed before it is done. */
export interface Change {
  /** What is to be done: `Undo the last change`. */
  title: string;
  /** The button that does it: `Undo`. */
  verb: string;
  /** On what, in a line. */
  subject: ReactNode;
  /** Under which what is answered of conflicts is kept while the page lives. */
  pair?: string;
  /** The branches that a conflict is between, where what is on them can be read. */
  sides?: { ours: string; theirs: string };
  /** How conflicts are settled, where they can be: gives the text in which something collides, or why there is none. */
  settle?: (ref: string, conflicts: readonly Conflict[], asking: Asking) => Promise<Written | string>;
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

/** What is shown, and what was answered when it was asked for. */
interface Shown {
  preview: Preview;
  choices: Choices;
}

/** The conflicts again that answers have settled. */
function settledOf(conflicts: readonly Conflict[]): Preview {
  return { state: 'conflict', base: null, head: null, conflicts };
}

/** Shows what a change would come to, and does it when told so. What is stale is said before, not after. */
export function PreviewDialog({ change, program, head, onDone, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const [seen, setSeen] = useState(head);
  const [choices, setChosen] = useState(() => keptChoices(change.pair));
  const setChoices = (next: Choices) => {
    setChosen(next);
    keepChoices(change.pair, next);
  };
  const [shown, setShown] = useState<Shown | null>(null);
  /** The conflicts that are known of the head that was seen, told and settled. */
  const [known, setKnown] = useState<readonly Conflict[]>([]);
  const [busy, setBusy] = useState(true);
  const [attempt, setAttempt] = useState(0);
  const [key, setKey] = useState(freshKey);
  /** Whether what is shown is what came of doing it, which is not done again by itself. */
  const [carried, setCarried] = useState(false);
  const message = useRef<HTMLInputElement>(null);
  const lacks = useCaller().lacks('EDIT');

  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  const { settle } = change;
  const asking = (dryRun: boolean, message: string | null, key: string): Asking => ({
    dryRun,
    head: change.base ?? seen,
    message,
    key,
    resolutions: resolutionsOf(known, choices),
  });
  const show = (preview: Preview, choices: Choices) => {
    setShown({ preview, choices });
    if (preview.state === 'conflict') setKnown((before) => gathered(before, preview.conflicts));
  };

  useEffect(() => {
    let left = false;
    setBusy(true);
    setKey(freshKey());
    void change.ask(asking(true, null, freshKey())).then((preview) => {
      if (left) return;
      show(preview, choices);
      setBusy(false);
    });
    return () => {
      left = true;
    };
    // The choices are sent when the reader asks for another preview.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [change, seen, attempt]);

  const preview = shown?.preview;
  const settled = known.length > 0 && preview?.state === 'made';
  /** Whether there is nothing that could be done, and so nothing to say about it. */
  const none = preview !== undefined && isVoid(preview) && !busy;
  const leave = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The field that had the focus is gone.
    if (none) leave.current?.focus();
  }, [none]);
  const stale = isStale(seen, head);
  const chosen = shown !== null && choices !== shown.choices;
  const again = () => {
    // What collided on another head may not on this one: what was answered is sent once that is known.
    if (head !== seen) setKnown([]);
    setCarried(false);
    setSeen(head);
    setAttempt((before) => before + 1);
  };
  useBack(preview?.state === 'failed' && !carried ? preview.problem : undefined, again);
  /** Whether there is something to preview again with. */
  const answered = !stale && (chosen || (preview?.state === 'conflict' && choices !== NO_CHOICES));
  const ready = preview?.state === 'made' && !busy && !stale && !chosen && lacks === null;

  const carryOut = async (event: FormEvent) => {
    event.preventDefault();
    if (answered && !busy) return again();
    if (!ready) return;
    setBusy(true);
    const words = message.current?.value.trim() || null;
    setCarried(true);
    const done = await change.ask(asking(false, words, key));
    setBusy(false);
    if (done.state === 'made') {
      keepChoices(change.pair, NO_CHOICES);
      dialog.current?.close();
      onDone(done.revision);
    } else show(done, choices);
  };

  return (
    <dialog ref={dialog} className="dialog preview" aria-labelledby={title} onClose={onClose}>
      <form onSubmit={(event) => void carryOut(event)}>
        <header>
          <h2 id={title}>
            <Message>{change.title}</Message>
          </h2>
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
              conflicts={known}
              sides={change.sides}
              settling={
                settle && {
                  choices,
                  onChange: setChoices,
                  textOf: (ref) => settle(ref, known, asking(true, null, freshKey())),
                }
              }
              onRetry={again}
            />
          ) : (
            <SkeletonRows rows={4} label="Working out what would happen" />
          )}
        </div>
        <footer>
          {!none && (
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
          )}
          <div className="acts">
            <button ref={leave} type="button" className="button" onClick={() => dialog.current?.close()}>
              {none ? 'Close' : 'Cancel'}
            </button>
            {settled && !stale && (
              <button type="button" className="button" onClick={() => setShown({ preview: settledOf(known), choices })}>
                Settle otherwise
              </button>
            )}
            {answered && (
              <button type="submit" className="button" disabled={busy}>
                Preview again
              </button>
            )}
            {!none && (
              <button type="submit" className="button primary" disabled={!ready} title={lacks ?? undefined}>
                {change.verb}
              </button>
            )}
          </div>
        </footer>
      </form>
    </dialog>
  );
}
