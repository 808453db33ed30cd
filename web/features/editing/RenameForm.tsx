import { useId, useMemo, useState, type FormEvent } from 'react';

import { useLive } from '../edits';
import { DiffView, useDiffPlace } from '../preview';
import { Findings } from './Findings';
import { canRename, renameOf } from './model';
import { useProposal } from './useProposal';

/** Another name for a function or a node, tried while it is typed. */
export function RenameForm(props: {
  what: 'function' | 'node';
  entity: string;
  functionRef: string;
  /** Its name now; empty if it has none. */
  name: string;
  revision: number | null;
  onRenamed(): void;
}) {
  const { what, entity, functionRef, name, revision, onRenamed } = props;
  const { programId, name: program } = useLive();
  const id = useId();
  const place = useDiffPlace('text');
  const [typed, setTyped] = useState(name);
  const [failed, setFailed] = useState<string | null>(null);
  const proposal = useMemo(() => renameOf(what, entity, name, typed, revision), [what, entity, name, typed, revision]);
  const { tried, difference, applying, apply, retry } = useProposal(programId, functionRef, proposal);
  const ready = canRename(tried, applying);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!ready) return;
    const result = await apply(null);
    if ('__typename' in result && result.__typename === 'EditApplied') return onRenamed();
    setFailed('__typename' in result ? 'The program has changed meanwhile; try again.' : result.message);
  };
  return (
    <form className="rename" onSubmit={(event) => void submit(event)} aria-label={`Rename the ${what}`}>
      <label htmlFor={id} className="muted">
        {what} <code>{entity}</code>
      </label>
      <div className="rename-row">
        <input
          id={id}
          className="field mono"
          autoComplete="off"
          spellCheck={false}
          placeholder={name === '' ? 'no name yet' : name}
          aria-describedby={`${id}-verdict`}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setFailed(null);
          }}
        />
        <button
          type="submit"
          className="button"
          disabled={!ready}
          aria-busy={tried.state === 'trying' || applying}
          title={tried.state === 'trying' ? 'It is being tried.' : undefined}
        >
          Rename
        </button>
      </div>
      {tried.state !== 'idle' && <Findings id={`${id}-verdict`} tried={tried} onRetry={retry} />}
      {typed.trim() === '' && name !== '' && what === 'function' && (
        <p id={`${id}-verdict`} className="muted">
          A function has a name.
        </p>
      )}
      {difference && <DiffView {...difference} program={program} place={place} />}
      {failed && (
        <p className="editing-wrong" role="alert">
          {failed}
        </p>
      )}
    </form>
  );
}
