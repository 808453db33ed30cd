import { CircleCheck, TriangleAlert } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { useClient } from 'urql';

import {
  HistoryDeleteBranchDocument,
  HistoryDeleteCheckpointDocument,
  HistoryUnmergedDocument,
} from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';
import { counted, Counts, ProblemPanel, Skeleton } from '../../ui';
import { MAIN } from './model';

/** A name that goes; what it names stays. */
export interface Forgetting {
  kind: 'checkpoint' | 'branch';
  name: string;
  /** The revision that it stands for; null where that is not told. */
  at: number | null;
}

/** Says what is lost with a name and what stays, then deletes it. */
export function ForgetDialog(props: {
  forgetting: Forgetting;
  programId: string;
  onDone(text: string): void;
  onClose(): void;
}) {
  const { forgetting, programId, onDone, onClose } = props;
  const { kind, name, at } = forgetting;
  const client = useClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const [key] = useState(freshKey);
  useEffect(() => dialog.current?.showModal(), []);

  const forget = async () => {
    setBusy(true);
    const input = { programId, name, idempotencyKey: key };
    const document = kind === 'branch' ? HistoryDeleteBranchDocument : HistoryDeleteCheckpointDocument;
    const { data, error } = await client
      .mutation<{ gone: { deleted: boolean } | null }, { input: typeof input }>(document, { input })
      .toPromise();
    setBusy(false);
    if (error) return setProblem(problemOf(error));
    dialog.current?.close();
    onDone(data?.gone?.deleted ? `Deleted the ${kind} ${name}.` : `The ${kind} ${name} was gone already.`);
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={title} onClose={onClose}>
      <form method="dialog">
        <h2 id={title}>
          Delete the {kind} “{name}”
        </h2>
        {kind === 'branch' ? (
          <>
            <p>
              <b>Lost:</b> the name. Nothing can be edited on {name} any more, and its revisions stand in no list of
              branches. No undo brings it back.
            </p>
            <p>
              <b>Stays:</b> every revision of it
              {at !== null && `, looked at by number: r${at} is the last, and another branch can begin with it`}. Other
              branches do not change.
            </p>
            <Unmerged programId={programId} name={name} />
          </>
        ) : (
          <>
            <p>
              <b>Lost:</b> the name, for going back by it. No undo brings it back.
            </p>
            <p>
              <b>Stays:</b> {at === null ? 'the revision' : `r${at}`} with its content, looked at and restored by
              number.
            </p>
          </>
        )}
        {problem && <ProblemPanel problem={problem} />}
        <div className="acts">
          <span className="gap" />
          <button type="submit" className="button">
            Cancel
          </button>
          <button type="button" className="button primary" disabled={busy} onClick={() => void forget()}>
            Delete
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** How much of a branch is nowhere else, as far as `main` tells. */
function Unmerged({ programId, name }: { programId: string; name: string }) {
  const { data, problem } = useAsk(
    HistoryUnmergedDocument,
    { id: programId, from: name, into: MAIN },
    { requestPolicy: 'network-only' },
  );
  const preview = data?.program?.mergePreview;
  if (problem && !preview) return <ProblemPanel problem={problem} />;
  if (!preview) return <Skeleton width={220} height={20} />;
  const { clean, diff } = preview;
  const { added, modified, removed, functions } = diff.changed;
  if (clean && added + modified + removed === 0)
    return (
      <p className="fine-line">
        <CircleCheck size={14} aria-hidden className="fine" />
        {MAIN} has all that was done on it.
      </p>
    );
  return (
    <p className="fine-line">
      <TriangleAlert size={14} aria-hidden className="warn" />
      {clean ? (
        <span>
          Not in {MAIN}: <Counts {...diff.changed} /> in {counted(functions, 'function')}.
        </span>
      ) : (
        <span>Not in {MAIN}, and in conflict with it: merge it first to keep what was done.</span>
      )}
    </p>
  );
}
