// Folders on the disk for Node's WASI, and what is in them.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Makes a folder with files by path, null for a folder; `use` is given its path, and it is gone behind it. */
export async function withFolder(files, use) {
  const folder = mkdtempSync(join(tmpdir(), 'lmlang-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      const place = join(folder, path);
      mkdirSync(content === null ? place : dirname(place), { recursive: true });
      if (content !== null) writeFileSync(place, content);
    }
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What is in a folder: contents in base64 by path, null for a folder. */
export function contentOf(folder) {
  const found = {};
  for (const path of readdirSync(folder, { recursive: true }).sort()) {
    const place = join(folder, path);
    found[path] = statSync(place).isDirectory() ? null : readFileSync(place).toString('base64');
  }
  return found;
}

/** The same as an argument of `simulate`. */
export function asInput(files) {
  return Object.entries(files).map(([path, content]) =>
    content === null ? { path, folder: true } : { path, content },
  );
}
