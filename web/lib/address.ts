/** Where the server answers, as seen from a page of it. */
export interface Endpoints {
  /** Queries and mutations. */
  http: string;
  /** Subscriptions. */
  socket: string;
}

/** The addresses of the server that a page came from. */
export function endpoints(page: URL): Endpoints {
  const socket = new URL('/graphql/ws', page);
  socket.protocol = page.protocol === 'https:' ? 'wss:' : 'ws:';
  return { http: new URL('/graphql', page).href, socket: socket.href };
}

/** Who a page says that it is. */
export interface Identity {
  /** The secret of a token, where the server asks for one. */
  token: string | null;
  /** The name that changes are made under, where no token says it. */
  author: string | null;
}

/** A header carries bytes: a name in other letters travels as its UTF-8. */
function inBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

/** The headers of a request over HTTP. Who looks at a dashboard is a person. */
export function headersOf({ token, author }: Identity): Record<string, string> {
  return {
    'lmlang-author-kind': 'HUMAN',
    ...(author && { 'lmlang-author': inBytes(author) }),
    ...(token && { authorization: `Bearer ${token}` }),
  };
}

/** The payload of `connection_init`, which stands in for the headers that a WebSocket cannot send. */
export function introductionOf({ token, author }: Identity): Record<string, string> {
  return {
    authorKind: 'HUMAN',
    ...(author && { author }),
    ...(token && { authorization: `Bearer ${token}` }),
  };
}
