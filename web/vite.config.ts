import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** The address of a server to develop against, such as that of `cargo xtask serve`. */
const server = process.env['LMLANG_SERVER'] ?? 'http://127.0.0.1:4000';

/** The parts of Prettier that GraphiQL asks for. */
const PRETTIER = ['standalone', 'plugins/graphql', 'plugins/estree', 'parser-graphql', 'parser-babel'];
const standIn = fileURLToPath(new URL('features/explore/prettier.ts', import.meta.url));

/**
 * Has the dashboard show what stands in its page at once, on a slow line too: the styles of that stand in the page, and the
 * style sheets, for which a browser would wait, stand behind it.
 */
function firstPaint(): Plugin {
  const styles = ['ui/tokens.css', 'ui/first.css'].map((file) => fileURLToPath(new URL(file, import.meta.url)));
  return {
    name: 'first-paint',
    transformIndexHtml: {
      order: 'post',
      handler(html, { path }) {
        if (!path.endsWith('/index.html')) return html;
        const sheets: string[] = [];
        const without = html.replaceAll(/\n *<link rel="stylesheet"[^>]*>/g, (sheet) => {
          sheets.push(sheet);
          return '';
        });
        const style = styles
          .map((file) => readFileSync(file, 'utf8').replaceAll(/\/\*.*?\*\/\s*|\n\s*/gs, ''))
          .join('');
        return without
          .replaceAll(/\n *<!--.*?-->/gs, '')
          .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
          .replace('\n  </body>', () => `${sheets.join('')}\n  </body>`);
      },
    },
  };
}

export default defineConfig({
  // The server has the files of all pages below this path, and each page at a path of its own.
  base: '/web/',
  plugins: [react(), firstPaint()],
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
