// The least of a GraphQL client.

/** Posts an operation, with more headers if there are any, and returns the execution result. */
export async function post(server, query, variables, headers = {}) {
  const response = await fetch(new URL('/graphql', server), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  return await response.json();
}
