import { CombinedError } from '@urql/core';

/** Why a request was not carried out, and what can be done about it. */
export interface Problem {
  code: string;
  message: string;
  action: string;
}

/** That a change was sent and no answer came: it may have been made, and is not sent again by itself. */
export class UnansweredChange extends CombinedError {}

/** The code of what never reached the server. */
export const OFFLINE = 'OFFLINE';
/** The code of what this page did wrong itself, and of an answer that lacks what was asked for. */
export const UNEXPECTED = 'UNEXPECTED';
/** The code of what is not there. */
export const NOT_FOUND = 'NOT_FOUND';
/** The code of a caller whom the server does not know. */
export const UNAUTHENTICATED = 'UNAUTHENTICATED';

const ACTIONS: Record<string, string> = {
  BAD_REQUEST: 'The server did not understand this page. Reload it: the server may be of another version.',
  UNAUTHENTICATED: 'The server asks for a token.',
  FORBIDDEN: 'Your token does not allow this. Ask whoever runs the server for one with the scope.',
  [NOT_FOUND]: 'This is not here. It may have been renamed or removed, or the address is mistyped.',
  LIMIT_EXCEEDED: 'That is more than the server gives at once. Ask for less.',
  RATE_LIMITED: 'Too many requests. Wait a moment and try again.',
  OVERLOADED: 'The server is busy. Wait a moment and try again.',
  CURSOR_INVALID: 'The place to go on from is not known any more. Load the page again.',
  STORAGE_UNAVAILABLE: 'The server cannot reach its database. Try again, or look at its log.',
  TIMEOUT: 'The server took too long. Try again, or ask for less.',
  UNSUPPORTED: 'This server cannot do that.',
  INTERNAL: 'The server failed at this. Its log has the request under its id.',
  [OFFLINE]: 'The server cannot be reached. See whether it runs: this is tried again by itself as soon as it answers.',
  [UNEXPECTED]: 'This page failed at it. Reload it: the server may be of another version.',
};

/** What is said of a change that nothing was heard of. */
const UNSURE =
  'The server cannot be reached, and this is not sent again by itself. See whether it was done, and do it again if not.';

/** What is said of a request that the server understood, and refuses for what it names. */
const REFUSED = 'The server does not do this, and says why.';

function problem(code: string, message: string): Problem {
  return { code, message, action: ACTIONS[code] ?? 'The request was not carried out.' };
}

/** Whether an error tells that a connection was not made, or how it ended. */
function isOfConnection(error: unknown): boolean {
  if (error instanceof Event) return true;
  // Ends that no event tells have the fields of one.
  return typeof error === 'object' && error !== null && 'code' in error && 'reason' in error;
}

/** What to tell of an error of a request; without one, of an answer that lacks what was asked for. */
export function problemOf(error: unknown): Problem {
  if (error instanceof CombinedError) {
    const [first] = error.graphQLErrors;
    if (first) {
      const told = problem(String(first.extensions['code'] ?? 'INTERNAL'), first.message);
      // What is told of a field was asked rightly: the page speaks the language of the server.
      return told.code === 'BAD_REQUEST' && first.path?.length ? { ...told, action: REFUSED } : told;
    }
    const told = problem(OFFLINE, error.networkError?.message ?? error.message);
    return error instanceof UnansweredChange ? { ...told, action: UNSURE } : told;
  }
  if (Array.isArray(error)) {
    const [first] = error as { message: string; extensions?: Record<string, unknown> }[];
    return problem(String(first?.extensions?.['code'] ?? 'INTERNAL'), first?.message ?? 'no message');
  }
  const message = error instanceof Error ? error.message : null;
  if (isOfConnection(error)) return problem(OFFLINE, message ?? 'the connection was closed');
  return problem(UNEXPECTED, message ?? 'the answer lacks what was asked for');
}
