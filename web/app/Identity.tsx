import { UserRound } from 'lucide-react';
import { useRef, type FormEvent } from 'react';

import { useCaller } from '../lib/caller';
import { nameAuthor, signIn, useSession } from './session';

/** Says who the reader is, and lets that be changed. */
export function Identity() {
  const { token, author } = useSession();
  const dialog = useRef<HTMLDialogElement>(null);
  const caller = useCaller();
  const name = caller.name ?? author ?? (token ? 'token' : 'anonymous');

  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('author');
    nameAuthor(String(given ?? '').trim() || null);
    dialog.current?.close();
  };

  return (
    <>
      <button
        type="button"
        className="button plain"
        onClick={() => dialog.current?.showModal()}
        aria-label={`You: ${name}. Change`}
      >
        <UserRound size={15} aria-hidden />
        <span className="wide">{name}</span>
      </button>
      <dialog ref={dialog} className="dialog" aria-labelledby="identity-title">
        <form onSubmit={save}>
          <h2 id="identity-title">Who you are</h2>
          <p className="muted">
            {token ? (
              <>
                The server knows you by your token{caller.name !== null && ', as '}
                <strong>{caller.name}</strong>
                {caller.may !== null && `. It lets you ${caller.may}`}. Another name is recorded as whom you act for.
              </>
            ) : (
              'Changes that you make carry this name, and that you are human.'
            )}
          </p>
          <label htmlFor="author">{token ? 'For whom you act' : 'Name'}</label>
          <input
            id="author"
            name="author"
            className="field"
            defaultValue={author ?? ''}
            key={author}
            placeholder={token ? 'nobody else' : 'anonymous'}
            maxLength={100}
            autoComplete="name"
          />
          <div className="acts">
            {token && (
              <button
                type="button"
                className="button"
                title="Forgets the token in this tab; it stays good"
                onClick={() => signIn(null)}
              >
                Sign out
              </button>
            )}
            <span className="gap" />
            <button type="button" className="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
            <button type="submit" className="button primary">
              Save
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
