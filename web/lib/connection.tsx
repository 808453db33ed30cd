import { cacheExchange, Client, fetchExchange, mapExchange } from '@urql/core';
import { createContext, use, type ReactNode } from 'react';
import { Provider } from 'urql';

import { headersOf, type Endpoints, type Identity } from './address';
import { OFFLINE, problemOf, UNAUTHENTICATED, UnansweredChange } from './problems';
import { openSocket, type Socket } from './socket';

/** The ways to the server: queries and mutations over HTTP, subscriptions over a WebSocket. */
export interface Connection {
  client: Client;
  socket: Socket;
}

/** Connects to a server. `onDenied` is called whenever it asks for a token, or for another one. */
export function connect(to: Endpoints, identity: () => Identity, onDenied: () => void): Connection {
  const socket = openSocket(to.socket, identity);
  const client = new Client({
    url: to.http,
    // Addresses of GET requests are cached and logged on the way, and limited in length.
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    fetchOptions: () => ({ headers: headersOf(identity()) }),
    exchanges: [
      mapExchange({
        onResult: (result) => {
          const { operation, error } = result;
          const dry = (operation.variables as { input?: { dryRun?: unknown } } | undefined)?.input?.dryRun === true;
          // What only tries a change may be asked again by itself, as a query may.
          if (operation.kind !== 'mutation' || dry || !error?.networkError) return;
          const { networkError, response } = error as { networkError: Error; response?: unknown };
          return { ...result, error: new UnansweredChange({ networkError, response }) };
        },
        onError: (error) => {
          const { code } = problemOf(error);
          if (code === UNAUTHENTICATED) onDenied();
          // What is said of the connection is the same everywhere.
          if (code === OFFLINE) socket.doubt();
        },
      }),
      cacheExchange,
      fetchExchange,
    ],
  });
  return { client, socket };
}

/** The socket of the connection around; null where there is none. */
export const Socketed = createContext<Socket | null>(null);

/** Gives a connection to everything within. */
export function ConnectionProvider({ connection, children }: { connection: Connection; children?: ReactNode }) {
  return (
    <Provider value={connection.client}>
      <Socketed value={connection.socket}>{children}</Socketed>
    </Provider>
  );
}

/** The socket of the connection around. */
export function useSocket(): Socket {
  const socket = use(Socketed);
  if (!socket) throw new Error('a component that follows something stands in a connection');
  return socket;
}
