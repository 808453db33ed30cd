// The clients that docs/api.md shows, as they stand there, against a server with the samples.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const address = new URL(process.argv[2]).host;
const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'lmlang-api-page-'));
symlinkSync(fileURLToPath(new URL('node_modules', import.meta.url)), join(folder, 'node_modules'));
const blocks = page.replaceAll('127.0.0.1:4000', address);
for (const [, name, text] of blocks.matchAll(/^```file (\S+)\n(.*?)^```$/gms)) {
  writeFileSync(join(folder, name), text);
}

const agent = () => execFileSync('python3', ['agent.py'], { cwd: folder, encoding: 'utf8' });
assert.equal(agent(), "{'__typename': 'EditApplied', 'revision': {'number': 2}}\n");
assert.match(agent(), /^\{'__typename': 'EditRejected', .*'code': 'DUPLICATE_NAME'/);

const follower = spawn('node', ['follow.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
for await (const line of createInterface({ input: follower.stdout })) {
  assert.match(line, /cursor: 'r2', revision: \{ number: 2 \}, touched: \[ 'f\d+' \]/);
  break;
}
follower.kill();

const shell = [...blocks.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, line]) => line);
assert.equal(shell.length, 2);
const asked = execFileSync('sh', ['-c', shell[0]], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
assert.ok(JSON.parse(asked).data.programs.nodes.some(({ name }) => name === 'fib'), asked);
rmSync(folder, { recursive: true });
console.log('the clients of docs/api.md do what the page says');
