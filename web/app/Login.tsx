import { KeyRound } from 'lucide-react';
import { useState, type FormEvent } from 'react';

import { useTitle } from '../lib/title';
import { Command, Notice } from '../ui';
import { signIn, useSession } from './session';

/** Whether a text can stand in the header that has tokens. */
function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** Takes a token where the server asks for one. */
export function Login() {
  const { token } = useSession();
  useTitle('Sign in');
  const [secret, setSecret] = useState('');
  const [unlike, setUnlike] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = secret.trim();
    setUnlike(!isToken(given));
    if (isToken(given)) signIn(given);
  };
  return (
    <main className="login">
      <form className="panel" onSubmit={submit}>
        <div className="panel-head">
          <KeyRound size={15} aria-hidden />
          <h1>Sign in to lmlang</h1>
        </div>
        <div className="panel-body">
          {unlike ? (
            <Notice tone="error" title="This is no token.">
              <p className="muted">A token has letters, digits and signs of ASCII, and no blanks.</p>
            </Notice>
          ) : (
            token && (
              <Notice tone="error" title="The server does not take this token.">
                <p className="muted">It may have been revoked, have run out, or be mistyped.</p>
              </Notice>
            )
          )}
          <label htmlFor="token">
            <strong>Token</strong>
          </label>
          <input
            id="token"
            className="field mono"
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder="lml_…"
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
            aria-describedby="token-help"
            aria-invalid={unlike || token !== null}
            // The page has nothing else to do.
            autoFocus
          />
          <button type="submit" className="button primary" disabled={!secret.trim()}>
            Sign in
          </button>
          <p id="token-help" className="muted">
            It is kept in this tab until the tab is closed. Whoever runs the server makes one with this command;{' '}
            <code>--scope read</code> is enough to look.
          </p>
          {/* Of another kind, what a person does here is recorded as an agent's. */}
          <Command>lmlang token create me --kind human --scope edit,simulate</Command>
        </div>
      </form>
    </main>
  );
}
