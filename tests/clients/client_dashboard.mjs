// The dashboard in Chromium, by keyboard: from the list of programs to a node of a function, whose text shows the same;
// an edit over HTTP appears in the open function and in the feed without a reload. Every view is free of what axe finds,
// light and dark, asks nothing of another host, and says what to do where there is nothing or a token is needed.
import assert from 'node:assert/strict';

import { post } from './http.mjs';
import { Pages, fits, settled, timeout } from './pages.mjs';

const server = process.argv[2];

const NAME = `watched-${process.pid}`;
const TEXT = `module shop

; What things cost together.
pub func total (price: i64, count: i64) -> (i64) pure {
  require "something is bought" = gt_s.i64 count, 0
  sum = mul.i64 price, count
  cheap = lt_s.i64 sum, 100
  cost = if cheap -> (i64) {
    yield (add.i64 sum, 5)
  } else {
    yield sum
  }
  return cost
}

; Not done yet.
pub func rest (paid: i64) -> (i64) {
  due = call total(3, 4)
  return (sub.i64 paid, _)
}
`;

async function data(query, variables) {
  const answer = await post(server, query, variables, { 'lmlang-author': 'planner', 'lmlang-author-kind': 'AGENT' });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

const { createProgram } = await data(
  `mutation ($input: CreateProgramInput!) {
    createProgram(input: $input) { program { id functions { nodes { name ref text } } } errors { message line } }
  }`,
  { input: { name: NAME, text: TEXT } },
);
assert.deepEqual(createProgram.errors, []);
const functions = Object.fromEntries(createProgram.program.functions.nodes.map((found) => [found.name, found]));
/** The ref that is written behind a word of a function's text. */
const refOf = (name, word) => new RegExp(`${word}#(n\\d+)`).exec(functions[name].text)[1];

async function edit(edits, message) {
  const { proposeEdit } = await data(
    `mutation ($input: ProposeEditInput!) {
      proposeEdit(input: $input) { outcome { __typename ... on EditApplied { revision { number } created { ref } } } }
    }`,
    { input: { programId: NAME, edits, message } },
  );
  assert.equal(proposeEdit.outcome.__typename, 'EditApplied', JSON.stringify(proposeEdit));
  return proposeEdit.outcome;
}

const pages = await Pages.open(server, 'dashboard');
const open = (address, options) => pages.page(address, options);
const accessible = (page, view) => pages.accessible(page, view);

/** Presses Tab until the focus is at what a function of an element says. */
async function tabTo(page, what, matches) {
  for (let at = 0; at < 80; at += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(matches, what)) return;
  }
  assert.fail(`the keyboard reaches ${what}`);
}
const byText = (text) => document.activeElement?.textContent?.startsWith(text) ?? false;
const byLabel = (label) => document.activeElement?.getAttribute('aria-label') === label;

/** The node that the address selects. */
const selects = (page, ref) => page.waitForURL((url) => url.hash.endsWith(`node=${ref}`), { timeout });

const page = await open('/');
try {
  // From the list to a function, by keyboard.
  await page.getByRole('heading', { name: 'Programs' }).waitFor();
  await page.getByRole('link', { name: NAME }).waitFor();
  await accessible(page, 'programs');
  await tabTo(page, NAME, byText);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: NAME }).waitFor();
  await page.getByRole('link', { name: 'total' }).waitFor();
  await settled(page);
  await page.locator('[data-live="connected"]').waitFor();
  await accessible(page, 'overview');
  await tabTo(page, 'total', byText);
  await page.keyboard.press('Enter');

  // A node by keyboard; the text shows the same one, the address too.
  const graph = page.getByRole('application', { name: 'Graph of shop::total' });
  await graph.waitFor();
  await settled(page);
  await tabTo(page, 'Graph of shop::total', byLabel);
  await page.keyboard.press('End');
  for (const [word, key] of [['return', 'ArrowUp'], ['cost', 'ArrowUp'], ['cheap', 'ArrowUp'], ['sum', 'ArrowDown'], ['cheap', '']]) {
    const ref = refOf('total', word);
    await selects(page, ref);
    await page.locator(`.box.selected[data-ref="${ref}"]`).waitFor();
    await page.locator(`.w-node.selected[data-node="${ref}"]`).first().waitFor();
    await page.getByRole('region', { name: `Node ${ref}` }).waitFor();
    if (key) await page.keyboard.press(key);
  }
  // The other way: from the text to the graph.
  const sum = refOf('total', 'sum');
  await page.locator(`.w-node[data-node="${sum}"]`).hover();
  await page.locator(`.box.hovered[data-ref="${sum}"]`).waitFor();
  await page.locator(`.box[data-ref="${sum}"]`).click();
  await page.locator(`.w-node.selected[data-node="${sum}"]`).waitFor();
  await accessible(page, 'function');
  await page.getByRole('tab', { name: 'Facts' }).click();
  await page.getByRole('region', { name: 'Contracts' }).getByText('something is bought').waitFor();
  await page.getByRole('link', { name: 'shop::rest' }).waitFor();
  await accessible(page, 'facts');
  await page.getByRole('tab', { name: 'Text' }).click();
  await graph.focus();
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => !url.hash.includes('node='), { timeout });

  // A hole is marked by its shape and in words; Enter opens what is called.
  const other = await open(`/#/p/${NAME}/f/${functions.rest.ref}`);
  await other.locator('.cell.hole', { hasText: '?' }).waitFor();
  await other.locator('.w-node', { hasText: /^due$/ }).click();
  await selects(other, refOf('rest', 'due'));
  await other.getByRole('application').focus();
  await other.keyboard.press('Enter');
  await other.getByRole('heading', { name: 'shop::total' }).waitFor();
  await other.context().close();

  // What an agent changes shows in the open function, and in the feed of another page, without a reload.
  const feed = await open(`/#/p/${NAME}/edits`);
  await feed.locator('[data-revision="1"]').waitFor();
  await feed.locator('[data-live="connected"]').waitFor();
  await page.locator('[data-live="connected"]').waitFor();
  const fee = TEXT.match(/pub func total[^]*?\n}\n/)[0].replace('sum, 5', 'sum, 7');
  const changed = await edit([{ replaceFunctionText: { ref: 'shop::total', text: fee } }], 'A higher fee');
  const row = feed.locator(`[data-revision="${changed.revision.number}"]`);
  await row.getByText('A higher fee').waitFor();
  await row.getByText('planner').waitFor();
  await row.getByText('agent').waitFor();
  await row.getByRole('link', { name: 'shop::total' }).waitFor();
  await row.locator('.badge', { hasText: 'hole' }).waitFor();
  await page.locator('.text-line', { hasText: 'sum, 7' }).waitFor();
  await page.locator('.box', { hasText: /^7/ }).first().waitFor();
  await accessible(feed, 'edits');

  // A pause keeps the picture still and counts what waits.
  await page.getByRole('button', { name: 'Pause' }).click();
  await edit([{ replaceFunctionText: { ref: 'shop::total', text: fee.replace('sum, 7', 'sum, 9') } }], 'Higher still');
  await page.getByRole('button', { name: '1 waiting' }).waitFor();
  assert.equal(await page.locator('.text-line', { hasText: 'sum, 9' }).count(), 0);
  await page.getByRole('button', { name: '1 waiting' }).click();
  await page.locator('.text-line', { hasText: 'sum, 9' }).waitFor();

  // An older revision says that it is one, and leads to the head.
  await page.goto(new URL(`/#/p/${NAME}/f/${functions.total.ref}?rev=1`, server).href);
  await page.getByText('read-only').waitFor();
  await page.locator('.text-line', { hasText: 'sum, 5' }).waitFor();
  await accessible(page, 'old');
  await page.getByRole('link', { name: 'Go to the head' }).click();
  await page.locator('.text-line', { hasText: 'sum, 9' }).waitFor();

  // A test case that does not hold is told in the list of programs.
  const input = { programId: NAME, function: 'shop::total', name: 'it costs nothing', args: [2, 3], expected: [0] };
  await data('mutation ($input: AddCaseInput!) { addCase(input: $input) { case { status } } }', { input });
  const list = await open('/');
  const listed = list.getByRole('link', { name: NAME });
  await listed.scrollIntoViewIfNeeded();
  await listed.getByText('1 red').waitFor();
  await list.context().close();

  // What is not there says so, with its code and a way on.
  await page.goto(new URL('/#/p/nothing-of-that-name', server).href);
  await page.getByRole('alert').getByText('NOT_FOUND').waitFor();
  await accessible(page, 'missing');
  await page.getByRole('link', { name: 'All programs' }).click();
  await page.getByRole('heading', { name: 'Programs' }).waitFor();

  // Narrow: one panel at a time, nothing wider than the page.
  const narrow = await open(`/#/p/${NAME}/f/${functions.total.ref}`, { viewport: { width: 390, height: 844 } });
  await narrow.getByRole('tab', { name: 'Graph' }).waitFor();
  for (const address of ['/#/', `/#/p/${NAME}`, `/#/p/${NAME}/edits`, `/#/p/${NAME}/f/${functions.total.ref}`]) {
    await narrow.goto(new URL(address, server).href);
    await narrow.getByRole('heading', { level: 1 }).waitFor();
    await settled(narrow);
    await fits(narrow, address);
    await accessible(narrow, `narrow${address.replaceAll(/\W+/g, '-')}`);
  }

  // Whose connection is lost is told so, and goes on after the last event: nothing is missed, and it is counted.
  let cut = false;
  const sockets = new Set();
  const lost = await open('about:blank');
  await lost.context().routeWebSocket(/\/graphql\/ws$/, (socket) => {
    if (cut) return socket.close({ code: 1012 });
    sockets.add(socket);
    socket.connectToServer();
  });
  await lost.goto(new URL(`/#/p/${NAME}/edits`, server).href);
  await lost.locator('[data-live="connected"]').waitFor();
  cut = true;
  for (const socket of sockets) socket.close({ code: 1012 });
  await lost.locator('[data-live="reconnecting"]').waitFor();
  await lost.getByText('The connection is lost').waitFor();
  for (const fee of [11, 12]) {
    const text = functions.total.text.replace(/#\w+/g, '').replace('sum, 5', `sum, ${fee}`);
    await edit([{ replaceFunctionText: { ref: 'shop::total', text } }], `Missed ${fee}`);
  }
  await accessible(lost, 'reconnecting');
  cut = false;
  await lost.getByText('caught up 2 revisions').waitFor();
  await lost.getByText('Missed 11').waitFor();
  await lost.getByText('Missed 12').waitFor();
  await lost.getByRole('button', { name: 'Dismiss' }).click();

  // Looked at before there is a token: pages that are open are refused then, and the browser says so.
  pages.finish();

  // From the first token on the page asks for one. It is kept in the tab alone.
  const token = async (input, headers) => {
    const document = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }';
    const answer = await post(server, document, { input }, headers);
    assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
    return answer.data.createToken.secret;
  };
  const root = { authorization: `Bearer ${await token({ name: 'root', scopes: ['ADMIN'], kind: 'HUMAN' }, {})}` };
  const secret = await token({ name: 'reader', scopes: ['READ'], kind: 'HUMAN' }, root);
  const guest = await open('/');
  await guest.getByRole('heading', { name: 'Sign in to lmlang' }).waitFor();
  await accessible(guest, 'login');
  await guest.locator('#token').fill('lml_wrong');
  await guest.keyboard.press('Enter');
  await guest.getByText('does not take this token').waitFor();
  await guest.locator('#token').fill(secret);
  await guest.keyboard.press('Enter');
  await guest.getByRole('link', { name: NAME }).click();
  await guest.locator('[data-live="connected"]').waitFor();
  const kept = await guest.evaluate(() => JSON.stringify(window.localStorage));
  assert.ok(!kept.includes(secret), 'the token is forgotten with the tab');
  await post(server, 'mutation { revokeToken(input: { token: "reader" }) { token { name } } }', {}, root);
  await guest.getByText('does not take this token').waitFor();
  // The browser itself says that requests were refused: that is what was tried.
  pages.complaints = pages.complaints.filter((text) => !/401|4403/.test(text));
  pages.finish();
  console.log('the dashboard shows programs, functions and edits, by keyboard, light and dark, wide and narrow');
} finally {
  await pages.close();
}
