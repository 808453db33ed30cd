import { createGraphiQLFetcher, type Fetcher } from '@graphiql/toolkit';
import { Kind, parse, type DocumentNode } from 'graphql';
import { createClient } from 'graphql-ws';

import { endpoints, headersOf, type Identity } from '../../lib/address';
import { storedIdentity } from '../../lib/stored';

/** What `connection_init` takes in place of each header: browsers send none of their own with a WebSocket. */
const INTRODUCTION: Record<string, string> = {
  authorization: 'authorization',
  'lmlang-author': 'author',
  'lmlang-author-kind': 'authorKind',
};

/** The payload of `connection_init` for the headers of the editor. */
export function introduction(headers: Record<string, unknown> = {}): Record<string, unknown> {
  const known = Object.entries(headers).map(([name, value]) => [INTRODUCTION[name.toLowerCase()], value] as const);
  return Object.fromEntries(known.filter(([name]) => name !== undefined));
}

const { http, socket } = endpoints(new URL(window.location.href));

/** The code with which the server closes a WebSocket whose token is missing or not good: asking again is of no use. */
const FORBIDDEN = 4403;

function connect(connectionParams: Record<string, unknown>): Fetcher {
  const wsClient = createClient({
    url: socket,
    lazy: true,
    connectionParams,
    retryAttempts: Infinity,
    shouldRetry: (problem) => problem instanceof CloseEvent && problem.code !== FORBIDDEN,
  });
  return createGraphiQLFetcher({ url: http, wsClient });
}

/** By who they say the caller is: what runs under one token goes on when another one is typed. */
const senders = new Map<string, Fetcher>();

/** The headers of the editor, on top of what the reader has told the dashboard in this tab. */
export function introduced(identity: Identity, headers: Record<string, unknown> = {}): Record<string, unknown> {
  if (identity.token === null && identity.author === null) return headers;
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...headersOf(identity), ...Object.fromEntries(given) };
}

function sender(headers: Record<string, unknown>): Fetcher {
  const params = introduction(headers);
  const key = JSON.stringify(params);
  const send = senders.get(key) ?? connect(params);
  senders.set(key, send);
  return send;
}

/** The name of the operation that is to run: of the only one, whatever the editor says. */
function nameIn(document: DocumentNode, said: string | null | undefined): string | null {
  const operations = document.definitions.filter((found) => found.kind === Kind.OPERATION_DEFINITION);
  return (operations.length === 1 ? operations[0]?.name?.value : said) ?? null;
}

/**
 * Sends queries and mutations over HTTP, and subscriptions over a WebSocket that reconnects.
 *
 * Which one it is, and its name, are read from the document that is sent: the editor's own reading lags behind the
 * keyboard, and behind the change to another tab.
 */
export const fetcher: Fetcher = (params, options) => {
  const headers = introduced(storedIdentity(), options?.headers) as Record<string, string>;
  const send = sender(headers);
  try {
    const documentAST = parse(params.query);
    return send(
      { ...params, operationName: nameIn(documentAST, params.operationName) },
      { ...options, headers, documentAST },
    );
  } catch {
    // The server tells where the syntax is wrong.
    return send(params, { ...options, headers });
  }
};
