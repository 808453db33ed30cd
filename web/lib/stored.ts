// What the browser keeps of who the reader is.
import type { Identity } from './address';

/** A token is forgotten with the tab. A name is no secret. */
const TOKEN = 'lmlang:token';
const AUTHOR = 'lmlang:author';

/** Who the reader said they are. */
export function storedIdentity(): Identity {
  return { token: sessionStorage.getItem(TOKEN), author: localStorage.getItem(AUTHOR) };
}

/** Keeps a token until the tab is closed; null forgets it. */
export function storeToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, token);
}

/** Keeps the name under which changes are made; null forgets it. */
export function storeAuthor(author: string | null): void {
  if (author === null) localStorage.removeItem(AUTHOR);
  else localStorage.setItem(AUTHOR, author);
}
