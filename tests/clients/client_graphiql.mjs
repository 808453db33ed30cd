// GraphiQL in Chromium: a query and a subscription typed by hand, their answers shown, and nothing asked of another host.
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

import { post } from './http.mjs';

const server = process.argv[2];
const QUERY = '{ serverInfo { name version } }';
const CREATE = `mutation ($input: CreateProgramInput!) {
  createProgram(input: $input) { program { id eventCursor } }
}`;
const MARK = 'mutation ($input: CreateCheckpointInput!) { createCheckpoint(input: $input) { checkpoint { name } } }';
/** Goes on after the cursor, so that it misses nothing however late the server hears of it. */
const subscription = ({ id, eventCursor }) =>
  `subscription { programEvents(programId: "${id}", after: "${eventCursor}") { __typename } }`;

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--no-first-run', ...quiet] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
try {
  const foreign = [];
  const complaints = [];
  const check = (url) => {
    const { protocol, host } = new URL(url);
    if (!['blob:', 'data:'].includes(protocol) && host !== new URL(server).host) foreign.push(url);
  };
  page.on('request', (request) => check(request.url()));
  page.on('websocket', (socket) => check(socket.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });

  await page.goto(new URL('/graphiql', server).href);
  const editor = page.locator('.graphiql-query-editor .monaco-editor').first();
  await editor.waitFor();

  /** Replaces what the editor holds and runs it, as a person would. */
  const run = async (document) => {
    await editor.click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(document);
    // The editor closes brackets by itself, behind the cursor.
    await page.keyboard.press('ControlOrMeta+Shift+End');
    await page.keyboard.press('Delete');
    await page.keyboard.press('ControlOrMeta+Enter');
  };
  /** Waits until the answer shows all the texts. */
  const shows = async (...texts) => {
    await page.waitForFunction(
      (texts) => {
        const lines = document.querySelector('.graphiql-response .view-lines');
        const shown = lines?.textContent?.replaceAll('\u00a0', ' ') ?? '';
        return texts.every((text) => shown.includes(text));
      },
      texts,
      { timeout: 20_000 },
    );
  };

  await run(QUERY);
  await shows('"serverInfo"', '"version"');

  const created = await post(server, CREATE, { input: { name: `graphiql-${process.pid}` } });
  assert.equal(created.errors, undefined, JSON.stringify(created.errors));
  const { program } = created.data.createProgram;
  await run(subscription(program));
  const marked = await post(server, MARK, { input: { programId: program.id, name: 'seen' } });
  assert.equal(marked.errors, undefined, JSON.stringify(marked.errors));
  await shows('"programEvents"', '"CheckpointChanged"');

  assert.deepEqual(foreign, [], 'no request leaves the origin');
  assert.deepEqual(complaints, [], 'the page has no errors');
} finally {
  const picture = join(mkdtempSync(join(tmpdir(), 'lmlang-graphiql-')), 'graphiql.png');
  await page.screenshot({ path: picture });
  console.log(`picture: ${picture}`);
  await browser.close();
}
