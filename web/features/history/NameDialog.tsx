import { useEffect, useId, useRef, useState, type FormEvent } from 'react';
import { useClient } from 'urql';

import { HistoryBranchDocument, HistoryCheckpointDocument } from '../../generated/graphql';
import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';
import { ProblemPanel } from '../../ui';

/** What a revision gets: a name, or a line of work that begins with it. */
export interface Naming {
  kind: 'checkpoint' | 'branch';
  /** The revision. */
  at: number;
}

/** Gives a revision a name. What the name stands for is said before it is given, and whether it is taken. */
export function NameDialog(props: {
  naming: Naming;
  programId: string;
  /** What the revision did, for the reader to know it by. */
  what: string;
  /** Names that are taken: those of branches and checkpoints. */
  taken: readonly string[];
  onDone(name: string): void;
  onClose(): void;
}) {
  const { naming, programId, what, taken, onDone, onClose } = props;
  const client = useClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [name, setName] = useState('');
  const [message, setMessage] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [key] = useState(freshKey);
  useEffect(() => dialog.current?.showModal(), []);

  const { kind, at } = naming;
  const given = name.trim();
  const occupied = taken.includes(given);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!given || occupied || busy) return;
    setBusy(true);
    const words = message.trim();
    const input = {
      programId,
      name: given,
      at: `r${at}`,
      ...(words && { message: words }),
      // Another name or message is another request.
      idempotencyKey: `${key} ${given} ${words}`,
    };
    const document = kind === 'branch' ? HistoryBranchDocument : HistoryCheckpointDocument;
    const { error } = await client.mutation<unknown, { input: typeof input }>(document, { input }).toPromise();
    setBusy(false);
    if (error) return setProblem(problemOf(error));
    dialog.current?.close();
    onDone(given);
  };

  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={`${id}title`} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <h2 id={`${id}title`}>{kind === 'branch' ? `Begin a branch with r${at}` : `Name r${at} with a checkpoint`}</h2>
        <p className="muted">
          {kind === 'branch'
            ? `A line of work beside main begins where r${at} is: “${what}”. Nothing else changes.`
            : `The content of r${at} can be gone back to by this name: “${what}”. Nothing else changes.`}
        </p>
        <label htmlFor={`${id}name`}>Name</label>
        <input
          id={`${id}name`}
          className="field"
          value={name}
          onChange={(event) => setName(event.target.value)}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={occupied}
          aria-describedby={`${id}taken`}
          autoFocus
        />
        <p id={`${id}taken`} className="name-taken error-text">
          {occupied && 'A branch or a checkpoint has this name already.'}
        </p>
        <label htmlFor={`${id}message`}>
          Why <span className="muted">(optional)</span>
        </label>
        <input
          id={`${id}message`}
          className="field"
          value={message}
          onChange={(event) => setMessage(event.target.value)}
          maxLength={1000}
          autoComplete="off"
        />
        {problem && <ProblemPanel problem={problem} />}
        <div className="acts">
          <span className="gap" />
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={!given || occupied || busy}>
            {kind === 'branch' ? 'Create the branch' : 'Create the checkpoint'}
          </button>
        </div>
      </form>
    </dialog>
  );
}
