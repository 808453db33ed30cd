// The dashboard in Chromium on a slow network: there is something to see as soon as the page itself has arrived, until its
// scripts have something to show, and nothing that one looks at moves while the rest of a view arrives. Each view
// is opened anew, wide and as narrow as a telephone, and the shifts of its layout, as the browser counts them, are summed
// up; what else the browser did is of no account, so a fast machine and a slow one count the same.
import assert from 'node:assert/strict';

import { post } from './http.mjs';
import { DRAWING, fits, Pages, settled, timeout } from './pages.mjs';

const server = process.argv[2];

/** What the shifts of a view may come to: the share of the window that moves, by the share of it that it moves. */
const MOST = 0.01;
/** A network with long ways: each answer takes this many milliseconds, and comes with so many bytes a second. */
const SLOW = { offline: false, latency: 120, downloadThroughput: 400_000, uploadThroughput: 100_000 };

async function ask(query, input, author = ['planner', 'AGENT']) {
  const [name, kind] = author;
  const answer = await post(server, query, { input }, { 'lmlang-author': name, 'lmlang-author-kind': kind });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return Object.values(answer.data)[0];
}

const NAME = `still-${process.pid}`;
const TEXT = `module shop

type Item = struct { name: string, price: i64 }

; What things cost together.
pub func total (item: Item, count: i64) -> (i64) {
  require "something is bought" = gt_s.i64 count, 0
  price = struct.get Item.price item
  sum = mul.i64 price, count
  cheap = lt_s.i64 sum, 100
  cost = if cheap -> (i64) { yield (add.i64 sum, 5) } else { yield sum }
  return cost
}

func rest (paid: i64) -> (i64) {
  return (sub.i64 paid, _)
}
`;
const EDIT = `mutation ($input: ProposeEditInput!) {
  proposeEdit(input: $input) { outcome { __typename ... on EditApplied { revision { number } } } }
}`;
const made = await ask(
  'mutation ($input: CreateProgramInput!) { createProgram(input: $input) { errors { message } } }',
  {
    name: NAME,
    text: TEXT,
  },
);
assert.deepEqual(made.errors, []);
/** Adds a function to a branch. */
async function add(name, branch, author) {
  const text = `func ${name} (x: i64) -> (i64) pure {\n  return (add.i64 x, 1)\n}\n`;
  const input = { programId: NAME, message: `Adds ${name}`, edits: [{ addText: { module: 'shop', text } }], branch };
  const { outcome } = await ask(EDIT, input, author);
  assert.equal(outcome.__typename, 'EditApplied', JSON.stringify(outcome));
}
for (const name of ['one', 'two', 'three']) await add(name, 'main');
await ask('mutation ($input: CreateCheckpointInput!) { createCheckpoint(input: $input) { checkpoint { name } } }', {
  programId: NAME,
  name: 'before-fees',
});
for (const branch of ['fees', 'rebates']) {
  await ask('mutation ($input: CreateBranchInput!) { createBranch(input: $input) { branch { name } } }', {
    programId: NAME,
    name: branch,
  });
  for (const name of ['four', 'five']) await add(`${name}_${branch}`, branch, ['coder', 'AGENT']);
}
await add('six', 'main', ['ada', 'HUMAN']);
await ask('mutation ($input: AddCaseInput!) { addCase(input: $input) { case { status } } }', {
  programId: NAME,
  function: 'shop::one',
  name: 'one and one',
  args: [1],
  expected: [2],
});
const { run } = await ask('mutation ($input: StartRunInput!) { startRun(input: $input) { run { id } } }', {
  flow: 'review',
  input: { program: NAME, branch: 'fees', message: 'Fees' },
});
const { session } = await ask('mutation ($input: TurnInput!) { turn(input: $input) { session { id } } }', {
  workflow: 'act',
  text: 'AddNode Ticket:T-1 {"weight": 3}',
});
await ask('mutation ($input: TurnInput!) { turn(input: $input) { session { id } } }', {
  sessionId: session.id,
  text: 'DeleteNode Ticket:T-1',
});
const { simulation } = await ask(
  'mutation ($input: StartSimulationInput!) { startSimulation(input: $input) { simulation { id } } }',
  { programId: NAME, function: 'shop::one', run: { args: [1] } },
);

const P = `/#/p/${NAME}`;
/** The views, each with what shows that it is there. */
const VIEWS = [
  ['programs', '/#/', 'main table, main li a'],
  ['overview', P, '[data-live="connected"]'],
  ['edits', `${P}/edits`, '.feed-row'],
  ['add', `${P}/add`, 'textarea'],
  ['map', `${P}/map`, '.map-canvas, canvas'],
  ['history', `${P}/history`, '.revision'],
  ['revision', `${P}/history?sel=r4`, '.history-side h2'],
  ['difference', `${P}/history?sel=r2,r4`, '.history-side h2'],
  ['findings', `${P}/verify`, '[role="tabpanel"] li'],
  ['function', `${P}/f/shop::total`, '.text-line, .box'],
  ['node', `${P}/f/shop::total?node=n1`, '.text-line, .box'],
  ['edit', `${P}/f/shop::total/edit`, 'textarea'],
  ['type', `${P}/t/shop::Item`, '.type-text, main h1'],
  ['form', `${P}/f/shop::total/run`, 'main form'],
  ['player', `${P}/f/shop::one/run?sim=${simulation.id}`, '.player'],
  ['conversations', '/#/sessions', 'main li'],
  ['begin', '/#/sessions/new', 'main form'],
  ['conversation', `/#/sessions/${session.id}`, '.talk-turn >> nth=1'],
  ['runs', '/#/runs', 'main li, main tr'],
  ['start', '/#/runs/new', 'main form'],
  ['run', `/#/runs/${run.id}`, '[data-live="connected"]'],
  ['approvals', '/#/approvals', '.inbox-row'],
];

/** Counts what moves; it runs before anything of the page does. */
function watch() {
  window.moved = [];
  const name = (node) => {
    const element = node instanceof Element ? node : node?.parentElement;
    const { tagName = '?', className = '' } = element ?? {};
    return `${tagName.toLowerCase()}.${String(className).replaceAll(' ', '.')}`;
  };
  const told = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ');
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput)
        window.moved.push({
          value,
          what: sources.map((each) => `${name(each.node)} (${told(each.previousRect)} → ${told(each.currentRect)})`),
        });
  }).observe({ type: 'layout-shift', buffered: true });
}

const pages = await Pages.open(server, 'still', DRAWING);

/** Opens a view in a window of this size, and says what moved where that is too much. */
async function watched([view, address, shown], [width, height]) {
  const page = await pages.page('about:blank', { viewport: { width, height }, reducedMotion: 'reduce' }, watch);
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.emulateNetworkConditions', SLOW);
  await page.goto(pages.address(address));
  await page.locator(shown).first().waitFor();
  await settled(page);
  // What is still on its way has no placeholder: the network is quiet once it is there.
  await page.waitForLoadState('networkidle', { timeout });
  const moved = await page.evaluate(() => window.moved);
  await page.context().close();
  const sum = moved.reduce((sum, { value }) => sum + value, 0);
  if (process.env.TELL) console.log(`${width} ${view} ${sum.toFixed(4)}`);
  const what = moved.map(({ value, what }) => `${value.toFixed(3)} ${what.join(', ')}`);
  return sum > MOST ? [`${view} at ${width}: ${sum.toFixed(3)}\n    ${what.join('\n    ')}`] : [];
}

/** What moved too much in windows of this size. */
async function views(size) {
  const failures = [];
  for (const view of VIEWS) failures.push(...(await watched(view, size)));
  return failures;
}

/** Sees that the page shows itself before anything else of it has arrived, and goes once there is something in its place. */
async function first() {
  const page = await pages.page('about:blank');
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  await page.route('**/web/assets/**', async (route) => {
    await opened;
    await route.continue();
  });
  await page.goto(pages.address(P), { waitUntil: 'commit' });
  const place = page.getByRole('heading', { name: 'Loading the dashboard…' });
  await place.waitFor();
  await pages.accessible(page, 'first-paint');
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page, 'the first paint');
  open();
  await page.getByRole('heading', { name: NAME }).waitFor();
  await place.waitFor({ state: 'hidden' });
  await page.context().close();
}

try {
  await first();
  // Most of the time is the network's: wide and narrow at once.
  const failures = (await Promise.all([views([1280, 800]), views([390, 844])])).flat();
  pages.finish();
  assert.equal(failures.length, 0, `views move while they load:\n  ${failures.join('\n  ')}`);
  console.log(`${VIEWS.length} views keep still while they load on a slow network, wide and narrow`);
} finally {
  await pages.close();
}
