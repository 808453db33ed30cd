// Open pages of the dashboard, and what happens under them: an edit of an API client appears in all of them; a server that
// is killed and comes back on the same data is found again without a reload, and nothing is missed; a function of 5,000
// nodes opens and can be walked through; a run says in one way that the server is out of reach; a program that is deleted
// says so; from the first token on, which
// the command line makes, a page asks for one, and what that does not allow is off.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { post } from './http.mjs';
import { Pages } from './pages.mjs';

const binary = process.env.LMLANG;
assert.ok(binary, 'LMLANG names the binary');
/** How long anything about the large function may take, on a machine that does much else. */
const patience = 120_000;
const data = mkdtempSync(join(tmpdir(), 'lmlang-dashboard-live-'));

/** A server of its own, which can be killed. */
class Server {
  /** Starts one, on a free port unless one is given, and waits until it listens. */
  static async start(port = 0) {
    const args = ['serve', '--listen', `127.0.0.1:${port}`, '--data', data];
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    // Nothing is left behind, wherever this ends.
    process.once('exit', () => child.kill('SIGKILL'));
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url] = /^GraphQL +(http\S+)\/graphql$/.exec(line) ?? [];
      if (url) return new Server(child, url);
    }
    return assert.fail(`the server listens: it ended with ${child.exitCode}`);
  }

  constructor(child, url) {
    this.child = child;
    this.url = url;
    this.ended = once(child, 'exit');
    // A pipe that nobody empties would hold the server up.
    child.stdout.resume();
  }

  get port() {
    return Number(new URL(this.url).port);
  }

  async end(signal) {
    this.child.kill(signal);
    await this.ended;
  }
}

const NAME = 'watched';
const text = (fee) => `pub func total (price: i64, count: i64) -> (i64) pure {
  sum = mul.i64 price, count
  cost = add.i64 sum, ${fee}
  return cost
}
`;
/** A function of 5,000 nodes and more. */
const LARGE = [
  'pub func large (x: i64) -> (i64) pure {',
  '  v_0 = add.i64 x, 1',
  ...Array.from({ length: 2_500 }, (_, at) => `  v_${at + 1} = xor.i64 (mul.i64 v_${at}, ${at}), v_${Math.max(0, at - 7)}`),
  '  return v_2500',
  '}',
  '',
].join('\n');

let server = await Server.start();

async function ask(query, variables) {
  const answer = await post(server.url, query, variables, { 'lmlang-author': 'planner', 'lmlang-author-kind': 'AGENT' });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

/** Changes the fee, and returns the number of the revision. */
async function edit(fee) {
  const { proposeEdit } = await ask(
    `mutation ($input: ProposeEditInput!) {
      proposeEdit(input: $input) { outcome { __typename ... on EditApplied { revision { number } } } }
    }`,
    {
      input: {
        programId: NAME,
        message: `A fee of ${fee}`,
        edits: [{ replaceFunctionText: { ref: 'shop::total', text: text(fee) } }],
      },
    },
  );
  assert.equal(proposeEdit.outcome.__typename, 'EditApplied', JSON.stringify(proposeEdit));
  return proposeEdit.outcome.revision.number;
}

const pages = await Pages.open(server.url, 'live');

async function open(address) {
  const page = await pages.page(address, { reducedMotion: 'reduce' });
  // Gone after a reload.
  await page.evaluate(() => {
    window.opened = true;
  });
  return page;
}

const live = (page) => page.locator('[data-live="connected"]').waitFor();
const isTheSame = (page) => page.evaluate(() => window.opened === true);
const showsFee = (page, fee) => page.locator('.text-line', { hasText: `sum, ${fee}` }).waitFor();
const showsRevision = (page, number) => page.locator(`[data-revision="${number}"]`).waitFor();

async function twoPages() {
  const view = await open(`/#/p/${NAME}/f/shop::total`);
  const feed = await open(`/#/p/${NAME}/edits`);
  await Promise.all([live(view), live(feed), showsFee(view, 1), showsRevision(feed, 1)]);
  const revision = await edit(2);
  await Promise.all([showsFee(view, 2), showsRevision(feed, revision)]);
  await feed.locator(`[data-revision="${revision}"]`).getByText('A fee of 2').waitFor();
  return { view, feed };
}

/** The server is killed and comes back, with an edit right before that and some right after. */
async function restarted({ view, feed }) {
  const { port } = server;
  const last = await edit(3);
  await server.end('SIGKILL');
  for (const page of [view, feed]) {
    await page.locator('[data-live="reconnecting"]').waitFor();
    await page.getByText('The connection is lost').waitFor();
  }
  server = await Server.start(port);
  const missed = [last];
  for (const fee of [4, 5, 6]) missed.push(await edit(fee));
  for (const page of [view, feed]) {
    await live(page);
    await page.getByText('Connected again').waitFor();
  }
  for (const revision of missed) await showsRevision(feed, revision);
  await showsFee(view, 6);
  // It goes on as before.
  const next = await edit(7);
  await Promise.all([showsFee(view, 7), showsRevision(feed, next)]);
  for (const page of [view, feed]) assert.ok(await isTheSame(page), 'no page was loaded anew');
}

async function largeFunction() {
  const page = await open(`/#/p/${NAME}/f/shop::large`);
  page.setDefaultTimeout(patience);
  const graph = page.getByRole('application', { name: 'Graph of shop::large' });
  await graph.waitFor();
  await page.locator('.box').first().waitFor();
  await page.waitForFunction(() => !document.querySelector('.skeleton, [data-busy="true"]'), undefined, { timeout: patience });
  // From node to node by keyboard, each shown in the graph, in the text and by itself.
  await graph.focus();
  const seen = new Set();
  for (const key of ['End', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'Home']) {
    const before = page.url();
    await page.keyboard.press(key);
    await page.waitForURL((url) => url.href !== before && url.hash.includes('node='), { timeout: patience });
    const ref = /node=(\w+)/.exec(page.url())[1];
    await page.locator(`.box.selected[data-ref="${ref}"]`).waitFor();
    await page.getByRole('region', { name: `Node ${ref}` }).waitFor();
    seen.add(ref);
  }
  assert.ok(seen.size >= 3, `the keyboard reaches nodes: ${[...seen]}`);
  // What is at work beside it does not stop: an edit elsewhere is told.
  await edit(8);
  await page.getByRole('link', { name: 'Edits' }).click();
  await page.getByText('A fee of 8').waitFor();
  assert.ok(await isTheSame(page));
  await page.context().close();
}

/** A run of which the server is out of reach says so in one way, and goes on once that is back. */
async function outOfReach() {
  const page = await open(`/#/p/${NAME}/f/shop::total/run`);
  await page.getByRole('button', { name: 'Start' }).click();
  const follows = (how) => page.locator(`[data-follow="${how}"]`).waitFor();
  const note = page.getByRole('alert').getByText('cannot be reached');
  await Promise.all([live(page), follows('connected'), page.locator('.box.here').waitFor()]);
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Step in' }).click();
  await note.waitFor();
  await Promise.all([page.locator('[data-live="reconnecting"]').waitFor(), follows('reconnecting')]);
  await page.context().setOffline(false);
  await Promise.all([live(page), follows('connected'), note.waitFor({ state: 'detached' })]);
  await page.getByRole('button', { name: 'Step in' }).click();
  await page.locator('.player[data-position="1"]').waitFor();
  assert.ok(await isTheSame(page));
  await page.context().close();
}

/** A program that is deleted under a page says so there; what it showed stays. */
async function deleted() {
  const name = 'doomed';
  const input = { name, text: `module shop\n\n${text(1)}` };
  await ask('mutation ($input: CreateProgramInput!) { createProgram(input: $input) { errors { message } } }', { input });
  const page = await open(`/#/p/${name}/f/shop::total`);
  await Promise.all([live(page), showsFee(page, 1)]);
  await ask('mutation ($input: DeleteProgramInput!) { deleteProgram(input: $input) { deleted } }', {
    input: { programId: name },
  });
  await page.getByText(`The program ${name} was deleted.`).waitFor();
  await page.getByText('nothing of it can be changed any more').waitFor();
  await showsFee(page, 1);
  await page.getByRole('link', { name: 'All programs' }).click();
  await page.getByRole('heading', { name: 'Programs' }).waitFor();
  assert.equal(await page.getByText(name, { exact: true }).count(), 0);
  await page.context().close();
}

/** What a token may not do is off, and says why. */
async function onlyLooks(page) {
  await page.goto(pages.address(`/#/p/${NAME}/f/shop::total`));
  await page.locator('.box').first().waitFor();
  for (const [word, scope] of [
    ['Edit', 'EDIT'],
    ['Run', 'SIMULATE'],
  ]) {
    const button = page.getByRole('button', { name: word, exact: true });
    await button.waitFor();
    assert.match(await button.getAttribute('title'), new RegExp(`it lacks the scope ${scope}`));
    assert.ok(await button.isDisabled());
    assert.equal(await page.getByRole('link', { name: word, exact: true }).count(), 0);
  }
  await pages.accessible(page, 'only-looks');
}

/** From the first token on, which the command line makes beside the running server, everybody needs one. */
async function token() {
  const made = spawnSync(binary, ['token', 'create', 'reader', '--scope', 'read', '--kind', 'human', '--data', data], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const secret = made.stdout.trim();
  assert.match(secret, /^lml_/);
  const page = await open(`/#/p/${NAME}`);
  await page.getByRole('heading', { name: 'Sign in to lmlang' }).waitFor();
  assert.equal(await page.title(), 'Sign in · lmlang');
  await page.getByText('--kind human').waitFor();
  await pages.accessible(page, 'sign-in');
  await page.locator('#token').fill('lml_wrong');
  await page.keyboard.press('Enter');
  await page.getByText('does not take this token').waitFor();
  await page.locator('#token').fill(secret);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: NAME }).waitFor();
  await live(page);
  assert.ok(await isTheSame(page));
  await page.getByRole('button', { name: 'You: reader. Change' }).click();
  await page.getByText('as reader. It lets you only look.').waitFor();
  await pages.accessible(page, 'signed-in');
  await page.keyboard.press('Escape');
  await onlyLooks(page);
}

try {
  const { createProgram } = await ask(
    'mutation ($input: CreateProgramInput!) { createProgram(input: $input) { errors { message line } } }',
    { input: { name: NAME, text: `module shop\n\n${text(1)}\n${LARGE}` } },
  );
  assert.deepEqual(createProgram.errors, []);
  await restarted(await twoPages());
  await largeFunction();
  await outOfReach();
  await deleted();
  await token();
  // The browser itself says that a server is gone, and that a token is refused: that is what was tried.
  pages.complaints = pages.complaints.filter((text) => !/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INTERNET_DISCONNECTED|401|WebSocket/.test(text));
  pages.finish();
  console.log('open pages follow edits, a killed server, a large function, a lost network and a first token');
} finally {
  await pages.close();
  await server.end('SIGTERM');
  rmSync(data, { recursive: true });
}
