import { useEffect, useId, useRef, useState } from 'react';
import { useClient } from 'urql';

import { VerifyRemoveCaseDocument } from '../../generated/graphql';
import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';
import { ProblemPanel } from '../../ui';
import { valuesText, type Case } from './model';

/** Says what goes before a test case is removed: no undo brings it back. */
export function RemoveCase({ test, onDone, onClose }: { test: Case; onDone(): void; onClose(): void }) {
  const client = useClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const [key] = useState(freshKey);
  useEffect(() => dialog.current?.showModal(), []);

  const remove = async () => {
    setBusy(true);
    const { error } = await client
      .mutation(VerifyRemoveCaseDocument, { input: { id: test.id, idempotencyKey: key } })
      .toPromise();
    setBusy(false);
    if (error) return setProblem(problemOf(error));
    dialog.current?.close();
    onDone();
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={title} onClose={onClose}>
      <form method="dialog">
        <h2 id={title}>Remove the case “{test.name}”</h2>
        <p>
          <code>
            {test.function.path}({valuesText(test.args)})
          </code>{' '}
          is not tried any more. Cases belong to no revision: undo does not bring one back.
        </p>
        {problem && <ProblemPanel problem={problem} />}
        <div className="acts">
          <span className="gap" />
          <button type="submit" className="button">
            Cancel
          </button>
          <button type="button" className="button primary" disabled={busy} onClick={() => void remove()}>
            Remove
          </button>
        </div>
      </form>
    </dialog>
  );
}
