import { createClient, type Client } from 'graphql-ws';

import { introductionOf, type Identity } from './address';

/** The code with which the server closes a WebSocket whose token is missing or not good: asking again is of no use. */
export const FORBIDDEN = 4403;

/** How often a quiet connection is tried, and how long the server may take to answer, in milliseconds. */
const PING_EVERY = 10_000;
const PONG_WITHIN = 5_000;
/** How long it is believed once it was doubted, in milliseconds. */
const BELIEVED = 10_000;

/** One WebSocket for all subscriptions of a page. It is open while there are any, and never reconnects by itself. */
export interface Socket {
  client: Client;
  /** Whether the server has let it in. */
  isConnected(): boolean;
  /** Finds out whether it still leads anywhere, as the server was not reached otherwise: it is closed, and opened again. */
  doubt(): void;
}

/**
 * Makes the socket.
 *
 * Retrying is left to whoever follows something: the library would subscribe again with the first cursor.
 */
export function openSocket(url: string, identity: () => Identity): Socket {
  let connected = false;
  let overdue: ReturnType<typeof setTimeout> | undefined;
  let doubted = -BELIEVED;
  let later: ReturnType<typeof setTimeout> | undefined;
  const client = createClient({
    url,
    lazy: true,
    retryAttempts: 0,
    keepAlive: PING_EVERY,
    connectionParams: () => introductionOf(identity()),
    on: {
      connected: () => (connected = true),
      closed: () => {
        connected = false;
        clearTimeout(overdue);
      },
      ping: (received) => {
        // A cable that was pulled closes nothing.
        if (!received) overdue = setTimeout(() => client.terminate(), PONG_WITHIN);
      },
      pong: () => clearTimeout(overdue),
    },
  });
  const doubt = () => {
    if (!connected || later !== undefined) return;
    const now = performance.now();
    const rest = doubted + BELIEVED - now;
    if (rest > 0) {
      // Whoever waits for it to come back is not forgotten.
      later = setTimeout(() => {
        later = undefined;
        doubt();
      }, rest);
      return;
    }
    doubted = now;
    client.terminate();
  };
  return { client, isConnected: () => connected, doubt };
}
