import { createGraphiQLFetcher, type Fetcher } from '@graphiql/toolkit';
import { parse } from 'graphql';
import { createClient } from 'graphql-ws';

/** The addresses of the server that the page came from. */
export function endpoints(page: URL): { http: string; socket: string } {
  const socket = new URL('/graphql/ws', page);
  socket.protocol = page.protocol === 'https:' ? 'wss:' : 'ws:';
  return { http: new URL('/graphql', page).href, socket: socket.href };
}

const { http, socket } = endpoints(new URL(window.location.href));

const send = createGraphiQLFetcher({
  url: http,
  wsClient: createClient({ url: socket, lazy: true, retryAttempts: Infinity }),
});

/**
 * Sends queries and mutations over HTTP, and subscriptions over a WebSocket that reconnects.
 *
 * Which one it is, is read from the document that is sent: the editor's own reading lags behind the keyboard.
 */
export const fetcher: Fetcher = (params, options) => {
  try {
    return send(params, { ...options, documentAST: parse(params.query) });
  } catch {
    // The server tells where the syntax is wrong.
    return send(params, options);
  }
};
