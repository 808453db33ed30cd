// graphql-ws, the client of the protocol's authors: everything over one WebSocket.
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';

import { tell } from './story.mjs';

const url = new URL('/graphql/ws', process.argv[2]);
url.protocol = 'ws:';
const client = createClient({ url: url.href, webSocketImpl: WebSocket, retryAttempts: 0 });

const follow = (query, variables) => client.iterate({ query, variables });
const run = async (query, variables) => {
  for await (const result of follow(query, variables)) return result;
  throw new Error('the operation ended without an answer');
};

await tell({ run, follow });
await client.dispose();
