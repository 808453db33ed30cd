// The least of a GraphQL client.

/** Posts an operation and returns the execution result. */
export async function post(server, query, variables) {
  const response = await fetch(new URL('/graphql', server), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify({ query, variables }),
  });
  return await response.json();
}
