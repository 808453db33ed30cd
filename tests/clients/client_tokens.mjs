// Real clients with tokens: from the first one on everybody needs one, over HTTP, event streams, a WebSocket and in
// GraphiQL, whose headers' editor serves its subscriptions as well; what is revoked ends.
import assert from 'node:assert/strict';

import { createClient as createEvents } from 'graphql-sse';
import { createClient as createSocket } from 'graphql-ws';
import { chromium } from 'playwright-core';
import WebSocket from 'ws';

import { post } from './http.mjs';

const server = process.argv[2];
const NAMES = '{ programs { nodes { name } } }';
const EVENTS = 'subscription { programEvents(programId: "watched") { __typename } }';
const timeout = 20_000;

const socketUrl = new URL('/graphql/ws', server);
socketUrl.protocol = 'ws:';

async function make(input, admin) {
  const document = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }';
  const answer = await post(server, document, { input }, admin);
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return { authorization: `Bearer ${answer.data.createToken.secret}` };
}

const code = (answer) => answer.errors?.[0].extensions.code;

const created = await post(server, 'mutation { createProgram(input: { name: "watched" }) { program { id } } }');
assert.equal(created.errors, undefined, JSON.stringify(created.errors));
const admin = await make({ name: 'root', scopes: ['ADMIN'], kind: 'HUMAN' });
const watcher = await make({ name: 'watcher', scopes: ['READ'], programs: ['watched'] }, admin);
assert.equal(code(await post(server, NAMES)), 'UNAUTHENTICATED');
assert.deepEqual((await post(server, NAMES, {}, watcher)).data.programs.nodes, [{ name: 'watched' }]);

const touch = async (name) => {
  const document = `mutation { createCheckpoint(input: { programId: "watched", name: "${name}" }) { checkpoint { name } } }`;
  const answer = await post(server, document, {}, admin);
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
};

/** Follows events until one comes; something happens in the meantime. */
async function hears(follow, name) {
  const events = follow[Symbol.asyncIterator]();
  const first = events.next();
  // When the subscription has begun is not told: something goes on until it is heard.
  let heard = false;
  for (let at = 0; !heard; at += 1) {
    await touch(`${name}-${at}`);
    const rest = new Promise((resolve) => setTimeout(resolve, 100, false));
    heard = await Promise.race([first.then(() => true), rest]);
  }
  assert.equal((await first).value.data.programEvents.__typename, 'CheckpointChanged');
  return events;
}

const socket = (connectionParams, on = {}) =>
  createSocket({ url: socketUrl.href, webSocketImpl: WebSocket, retryAttempts: 0, connectionParams, on });
const stranger = socket({});
await assert.rejects(stranger.iterate({ query: EVENTS }).next(), { code: 4403 });
const follower = socket(watcher);
const overSocket = await hears(follower.iterate({ query: EVENTS }), 'socket');

const events = (headers) => createEvents({ url: new URL('/graphql', server).href, retryAttempts: 0, headers });
await assert.rejects(events({}).iterate({ query: EVENTS }).next(), /401|Unauthorized/);
const overEvents = await hears(events(watcher).iterate({ query: EVENTS }), 'events');

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--no-first-run'] });
try {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.goto(new URL('/graphiql', server).href);
  const document = page.locator('.graphiql-query-editor .monaco-editor').first();
  await document.waitFor();
  const type = async (editor, text) => {
    await editor.click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(text);
    await page.keyboard.press('ControlOrMeta+Shift+End');
    await page.keyboard.press('Delete');
  };
  const shows = (text) =>
    page.waitForFunction(
      (text) => {
        const lines = window.document.querySelector('.graphiql-response .view-lines');
        return (lines?.textContent ?? '').replaceAll('\u00a0', ' ').includes(text);
      },
      text,
      { timeout },
    );
  await type(document, NAMES);
  await page.keyboard.press('ControlOrMeta+Enter');
  await shows('UNAUTHENTICATED');

  await page.getByRole('button', { name: 'Headers', exact: true }).click();
  await type(page.locator('.graphiql-editor-tool .monaco-editor:visible').first(), JSON.stringify(watcher));
  await type(document, NAMES);
  await page.keyboard.press('ControlOrMeta+Enter');
  await shows('"watched"');

  await type(document, EVENTS);
  await page.keyboard.press('ControlOrMeta+Enter');
  const shown = shows('CheckpointChanged').then(() => true);
  for (let at = 0, heard = false; !heard; at += 1) {
    await touch(`page-${at}`);
    heard = await Promise.race([shown, new Promise((resolve) => setTimeout(resolve, 100, false))]);
  }
  const kept = await page.evaluate(() => JSON.stringify(window.localStorage));
  assert.ok(!kept.includes(watcher.authorization.slice('Bearer '.length)), `the page keeps no token: ${kept}`);

  const revoked = await post(server, 'mutation { revokeToken(input: { token: "watcher" }) { token { name } } }', {}, admin);
  assert.equal(revoked.errors, undefined, JSON.stringify(revoked.errors));
  await shows('4403');
} finally {
  await browser.close();
}

/** Reads what came before the end. */
async function ends(events) {
  for (;;) {
    const { value, done } = await events.next();
    if (done || code(value) === 'UNAUTHENTICATED') return;
  }
}
await assert.rejects(ends(overSocket), { code: 4403 });
await ends(overEvents);
assert.equal(code(await post(server, NAMES, {}, watcher)), 'UNAUTHENTICATED');
assert.equal(code(await post(server, NAMES, {}, admin)), undefined);
console.log('tokens are asked for by HTTP, event streams, WebSockets and GraphiQL, and end when they are revoked');
