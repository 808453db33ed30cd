// graphql-sse, in the mode with a connection for each operation.
import { createClient } from 'graphql-sse';

import { tell } from './story.mjs';

const client = createClient({ url: new URL('/graphql', process.argv[2]).href, retryAttempts: 0 });

const follow = (query, variables) => client.iterate({ query, variables });
const run = async (query, variables) => {
  for await (const result of follow(query, variables)) return result;
  throw new Error('the operation ended without an answer');
};

await tell({ run, follow });
client.dispose();
