import { useSyncExternalStore } from 'react';

import { connect, type Connection } from '../lib/connection';
import { endpoints, type Identity } from '../lib/address';
import { storeAuthor, storedIdentity, storeToken } from '../lib/stored';

/** Who the reader is, and whether the server lets it in. */
export interface Session extends Identity {
  /** Whether the server asked for a token, or for another one. */
  denied: boolean;
}

let session: Session = { ...storedIdentity(), denied: false };
const listeners = new Set<() => void>();

function change(next: Partial<Session>): void {
  session = { ...session, ...next };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function makeConnection(): Connection {
  return connect(
    endpoints(new URL(window.location.href)),
    () => session,
    () => change({ denied: true }),
  );
}

let connection = makeConnection();

/** The reader, and how it is connected. Another reader gets another connection: what one may see is not for the next. */
export function useSession(): Session & { connection: Connection } {
  return { ...useSyncExternalStore(subscribe, () => session), connection };
}

/** Shows a token from now on; null forgets it. */
export function signIn(token: string | null): void {
  storeToken(token);
  connection = makeConnection();
  change({ token, denied: false });
}

/** Says under which name changes are made. */
export function nameAuthor(author: string | null): void {
  storeAuthor(author);
  change({ author });
}
