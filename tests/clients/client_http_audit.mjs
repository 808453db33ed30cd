// GraphQL over HTTP: every check of graphql-http's audit of servers, MUST, SHOULD and MAY.
import { auditServer } from 'graphql-http';

const url = new URL('/graphql', process.argv[2]).href;
const results = await auditServer({ url });
const failed = results.filter((result) => result.status !== 'ok');
for (const { id, name, status, reason } of failed) console.error(`${status} ${id} ${name}: ${reason}`);
console.log(`${results.length - failed.length} of ${results.length} audits pass`);
process.exitCode = failed.length === 0 && results.length > 0 ? 0 : 1;
