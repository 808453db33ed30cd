// Replaces every large text file of the build by its compressed form, in which the server stores and sends it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url).pathname;
// What was built of what is for `budget.mjs`, not for the server.
rmSync(join(dist, '.vite'), { recursive: true, force: true });

/** A smaller file is not worth a second form. */
const LARGE = 1024;
/** What the binary may grow by. */
const BUDGET = 3 << 20;
/** Formats that are compressed already. */
const PACKED = /\.(woff2|png|gz)$/;

let before = 0;
let after = 0;
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, name.toString());
  let bytes;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (error.code === 'EISDIR') continue;
    throw error;
  }
  before += bytes.length;
  if (bytes.length < LARGE || PACKED.test(path)) {
    after += bytes.length;
    continue;
  }
  const packed = gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION });
  writeFileSync(`${path}.gz`, packed);
  rmSync(path);
  after += packed.length;
}
const kB = (bytes) => `${Math.round(bytes / 1024)} kB`;
console.log(`${kB(before)} compressed to ${kB(after)}`);
if (after > BUDGET) {
  console.error(`that is more than the ${kB(BUDGET)} that the binary may grow by`);
  process.exitCode = 1;
}
