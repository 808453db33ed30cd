// Holds what pages may cost: what the dashboard loads first, and all files together.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url).pathname;
/** What the first load of a page may take, gzipped, by the page. GraphiQL is an editor and has no bound of its own. */
const FIRST_LOAD = { 'index.html': 260 * 1024 };
/** What all files may take, uncompressed. */
const TOTAL = 9 * 1024 * 1024;

const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'));

/** The files that a page loads before anything is asked for, through all static imports. */
function firstLoad(page) {
  const files = new Set([page]);
  const visited = new Set();
  const visit = (key) => {
    if (visited.has(key)) return;
    visited.add(key);
    const { file, css = [], imports = [] } = manifest[key];
    files.add(file);
    css.forEach((name) => files.add(name));
    imports.forEach(visit);
  };
  visit(page);
  return [...files];
}

const kB = (bytes) => `${Math.round(bytes / 1024)} kB`;
const complain = (problem) => {
  console.error(problem);
  process.exitCode = 1;
};

for (const [page, bound] of Object.entries(FIRST_LOAD)) {
  const packed = firstLoad(page).map((name) => gzipSync(readFileSync(join(dist, name)), { level: 9 }).length);
  const size = packed.reduce((sum, length) => sum + length, 0);
  console.log(`${page} first loads ${kB(size)} gzipped of at most ${kB(bound)}`);
  if (size > bound) complain(`the first load of ${page} is over its budget`);
}

// What a page shows at once stands before everything that a browser waits for.
const page = readFileSync(join(dist, 'index.html'), 'utf8');
const sheet = page.indexOf('rel="stylesheet"');
if (!page.includes('<style>') || sheet < page.indexOf('class="first-bar"'))
  complain('the first paint of index.html waits for a style sheet');

const total = readdirSync(dist, { recursive: true })
  .map((name) => join(dist, name.toString()))
  .filter((path) => existsSync(path) && statSync(path).isFile())
  .reduce((sum, path) => sum + statSync(path).size, 0);
console.log(`all files take ${kB(total)} of at most ${kB(TOTAL)}`);
if (total > TOTAL) complain('all files together are over their budget');
