import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { createClient } from 'graphql-ws';

/** The addresses of the server that the page came from. */
export function endpoints(page: URL): { http: string; socket: string } {
  const socket = new URL('/graphql/ws', page);
  socket.protocol = page.protocol === 'https:' ? 'wss:' : 'ws:';
  return { http: new URL('/graphql', page).href, socket: socket.href };
}

const { http, socket } = endpoints(new URL(window.location.href));

/** Sends queries and mutations over HTTP, and subscriptions over a WebSocket that reconnects. */
export const fetcher = createGraphiQLFetcher({
  url: http,
  wsClient: createClient({ url: socket, lazy: true, retryAttempts: Infinity }),
});
