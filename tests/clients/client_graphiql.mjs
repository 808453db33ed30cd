// GraphiQL in Chromium, used as a person would: documents and variables typed by hand, a subscription in a tab of its own.
// It tells the whole story, shows what comes back, and asks nothing of another host.
import assert from 'node:assert/strict';
import { join } from 'node:path';

import { Pages, timeout } from './pages.mjs';
import { tell } from './story.mjs';

const server = process.argv[2];
const QUERY = '{ serverInfo { name version } }';
/** The ready tabs that run as they stand, and what their answers show. */
const READY = [
  ['Programs', '"totalCount"', '"name": "bank"'],
  ['Function', '"signature"', '"contentHash"'],
  ['Edit', '"EditApplied"', '"committed": false', '"twice"'],
  ['Verify', '"valid": true'],
  ['Simulate', '"Returned"', '"i64:55"'],
  ['Stream', '"COMPLETED"', '"i64:55"'],
  ['Debug', '"position"'],
  ['History', '"CREATE"'],
  ['Undo', '"NothingToDo"'],
];
const pages = await Pages.open(server, 'graphiql');

/** A page with GraphiQL. */
class GraphiQL {
  static async open() {
    // A context of its own: GraphiQL keeps what was typed, and pages would show each other's.
    const page = await pages.page('/graphiql');
    const graphiql = new GraphiQL(page);
    await graphiql.document.waitFor();
    return graphiql;
  }

  constructor(page) {
    this.page = page;
    this.document = page.locator('.graphiql-query-editor .monaco-editor').first();
    this.variables = page.locator('.graphiql-editor-tool .monaco-editor').first();
  }

  /** What leads to a tab. */
  tab(title) {
    return this.page.locator(`.graphiql-tab-button[title="${title}"]`);
  }

  /** Replaces what an editor holds. */
  async type(editor, text) {
    await editor.click();
    await this.page.keyboard.press('ControlOrMeta+A');
    await this.page.keyboard.insertText(text);
    // The editor closes brackets by itself, behind the cursor.
    await this.page.keyboard.press('ControlOrMeta+Shift+End');
    await this.page.keyboard.press('Delete');
  }

  /** Types an operation and runs it. */
  async start(document, variables) {
    if (variables !== undefined) {
      await this.page.getByRole('button', { name: 'Variables', exact: true }).click();
      await this.type(this.variables, JSON.stringify(variables));
    }
    await this.type(this.document, document);
    await this.page.keyboard.press('ControlOrMeta+Enter');
  }

  /** Waits until the answer, or another editor, shows all the texts. */
  async shows(...texts) {
    await this.holds('.graphiql-response', ...texts);
  }

  async holds(editor, ...texts) {
    await this.page.waitForFunction(
      ([editor, texts]) => {
        const lines = [...(document.querySelector(editor)?.querySelectorAll('.view-line') ?? [])];
        // Lines stand in any order, each at its place.
        const shown = lines.map((line) => line.textContent.replaceAll('\u00a0', ' ').trim());
        return texts.every((text) => shown.some((line) => line.includes(text)));
      },
      [editor, texts],
      { timeout },
    );
  }

  /** Runs an operation and resolves to its result, once the page shows it. */
  async run(document, variables) {
    const mine = (response) => {
      const request = response.request();
      if (request.method() !== 'POST' || !request.url().endsWith('/graphql')) return false;
      const asked = request.postDataJSON()?.query ?? '';
      return asked.replaceAll(/\s/g, '') === document.replaceAll(/\s/g, '');
    };
    const answered = this.page.waitForResponse(mine, { timeout });
    await this.start(document, variables);
    const result = await (await answered).json();
    await this.shows(result.data ? Object.keys(result.data)[0] : 'errors');
    return result;
  }

  /** Runs a subscription and yields its results as they arrive at the page. */
  async *follow(document, variables) {
    const waiting = [];
    let wake = () => {};
    this.page.on('websocket', (socket) => {
      socket.on('framereceived', ({ payload }) => {
        waiting.push(JSON.parse(payload));
        wake();
      });
    });
    await this.start(document, variables);
    for (;;) {
      while (waiting.length === 0) {
        const late = new Promise((_, reject) => setTimeout(reject, timeout, new Error('no event arrives')).unref());
        await Promise.race([new Promise((resolve) => (wake = resolve)), late]);
      }
      const { type, payload } = waiting.shift();
      if (type === 'next') yield payload;
      if (type === 'complete') return;
      assert.notEqual(type, 'error', JSON.stringify(payload));
    }
  }
}

const graphiql = await GraphiQL.open();
try {
  await graphiql.start(QUERY);
  await graphiql.shows('"serverInfo"', '"version"');

  // The tabs of a first visit run as they stand, and show what they are about.
  const first = await GraphiQL.open();
  for (const [title, ...texts] of READY) {
    await first.tab(title).click();
    await first.holds('.graphiql-query-editor', ` ${title}`);
    await first.document.click();
    await first.page.keyboard.press('ControlOrMeta+Enter');
    await first.shows(...texts);
  }
  await first.page.screenshot({ path: join(pages.pictures, 'tabs.png') });
  // Who comes again finds the tabs as they were left.
  await first.page.locator('.graphiql-tab-active').getByRole('button', { name: 'Close Tab' }).click();
  const kept = () => !localStorage.getItem('graphiql:tabState').includes('mutation Undo');
  await first.page.waitForFunction(kept, undefined, { timeout });
  await first.page.reload();
  await first.tab('Events').waitFor();
  assert.equal(await first.tab('Undo').count(), 0);
  await first.page.context().close();

  // Prettifying keeps what is written, comments included.
  const tab = await GraphiQL.open();
  await tab.page.getByRole('button', { name: 'Variables', exact: true }).click();
  await tab.type(tab.variables, '{"name":"fib", // the sample\n"more":[1]}');
  await tab.type(tab.document, 'query Q($name:String){ # which\n program(name:$name){name,doc}}');
  await tab.page.getByRole('button', { name: /^Prettify/ }).click();
  await tab.holds('.graphiql-query-editor', 'query Q($name: String) { # which', 'program(name: $name) {');
  await tab.holds('.graphiql-editor-tool', '"name": "fib", // the sample', '"more": [');
  await tab.page.context().close();

  await tell({
    run: (document, variables) => graphiql.run(document, variables),
    async *follow(document, variables) {
      const tab = await GraphiQL.open();
      try {
        for await (const result of tab.follow(document, variables)) {
          await tab.shows(Object.keys(result.data)[0]);
          yield result;
        }
      } finally {
        await tab.page.context().close();
      }
    },
  });

  pages.finish();
} finally {
  await graphiql.page.screenshot({ path: join(pages.pictures, 'graphiql.png') });
  await pages.close();
}
