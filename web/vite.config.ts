import { fileURLToPath } from 'node:url';

import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

/** The address of a server to develop against, such as that of `cargo xtask serve`. */
const server = process.env['LMLANG_SERVER'] ?? 'http://127.0.0.1:4000';

/** The parts of Prettier that GraphiQL asks for. */
const PRETTIER = ['standalone', 'plugins/graphql', 'plugins/estree', 'parser-graphql', 'parser-babel'];
const standIn = fileURLToPath(new URL('features/explore/prettier.ts', import.meta.url));

export default defineConfig({
  // The server has the files of all pages below this path, and each page at a path of its own.
  base: '/web/',
  plugins: [react()],
  resolve: {
    alias: Object.fromEntries(PRETTIER.map((part) => [`prettier/${part}`, standIn])),
  },
  build: {
    // Which files the first load of a page takes is read from it.
    manifest: true,
    rolldownOptions: {
      input: ['index.html', 'graphiql.html'],
      onLog(level, log, report) {
        // GraphiQL brings two copies of a runtime that marks its modules for server components, which nothing here is.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
    // The editor alone is larger than the limit for which there is a warning.
    chunkSizeWarningLimit: 4000,
  },
  server: {
    proxy: { '/graphql': { target: server, ws: true } },
  },
  test: {
    environment: 'happy-dom',
    include: ['{app,features,lib,ui}/**/*.test.ts'],
  },
});
