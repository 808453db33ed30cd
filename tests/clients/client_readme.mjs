// The quick start of README.md, run as it stands there against a server that is running already.
//
// Below the heading "Quick start", every `sh` block is run by bash, in order, with the address of this server in the
// place of the default one; a block that clones, or starts the server, is what brought the reader here and is left out.
// A `json` block after it is what the command must print: more fields may be there, and "…" stands for any text.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const server = process.argv[2];
const root = new URL('../../', import.meta.url).pathname;
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const section = readme.split(/^## /m).find((text) => text.startsWith('Quick start'));
assert.ok(section, 'README.md has a section "Quick start"');

/** Says where `seen` lacks something of `wanted`; nothing where it has all of it. */
function missing(wanted, seen, path = '') {
  if (wanted === '…') return typeof seen === 'string' ? [] : [`${path} is no text`];
  if (wanted === null || typeof wanted !== 'object') {
    return wanted === seen ? [] : [`${path} is ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`];
  }
  return Object.entries(wanted).flatMap(([key, value]) => missing(value, seen?.[key], `${path}/${key}`));
}

let printed = '';
let ran = 0;
for (const [, language, text] of section.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
  if (language === 'json') {
    assert.deepEqual(missing(JSON.parse(text), JSON.parse(printed)), [], printed);
  } else if (language === 'sh' && !/^(git clone|cargo xtask)/m.test(text)) {
    const script = text.replaceAll(/(127\.0\.0\.1|localhost):4000/g, new URL(server).host);
    const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: root,
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.equal(status, 0, `${script}\n${stdout}${stderr}`);
    printed = stdout;
    ran += 1;
  }
}
assert.ok(ran > 0, 'the quick start has commands to run');
console.log(`${ran} blocks of the quick start do what they say`);
