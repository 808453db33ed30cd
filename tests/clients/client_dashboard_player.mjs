// The player of the dashboard in Chromium, by keyboard: SHA-256 is stepped, scrubbed, run to a breakpoint and run back,
// asked why, and followed by a second page; what traps and what has a hole says so. A function's text is edited by hand:
// mistakes show while it is typed, what others change meanwhile is told, nothing typed is lost. Every view is free of what
// axe finds, light and dark, and asks nothing of another host.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { post } from './http.mjs';
import { Pages, fits, settled, timeout } from './pages.mjs';

const server = process.argv[2];

/** The SHA-256 of `abc`, as FIPS 180-4 has it. */
const DIGEST = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const SHA = `sha-${process.pid}`;
const SHOP = `typed-${process.pid}`;
const TEXT = `module shop

type Item = struct { name: string, price: i64 }
type Payment = enum { cash, card(string) }

pub func total (item: Item, counts: array<i64>, payment: Payment, tip: option<i64>, gift: bool) -> (i64) {
  price = struct.get Item.price item
  sum = loop L (i: i32 = 0, acc: i64 = 0) -> (i64) {
    break_if L (ge_s.i32 i, (array.len<i64> counts)), acc
    print "one more"
    continue L (add.i32 i, 1), (add.i64 acc, (mul.i64 price, (array.get<i64> counts, i)))
  }
  return sum
}

func part (whole: i64, parts: i64) -> (i64) {
  share = div_s.i64 whole, parts
  return share
}

func rest (paid: i64) -> (i64) {
  return (sub.i64 paid, _)
}

memory notes 1
global mut sold: i64 = 0

func sell (count: i64) -> (i64) {
  twice = add.i64 count, count
  global.set sold, twice
  kept = call note(twice)
  return kept
}

func note (sum: i64) -> (i64) {
  store.i64 264, sum
  return sum
}
`;

async function data(query, variables) {
  const answer = await post(server, query, variables, { 'lmlang-author': 'planner', 'lmlang-author-kind': 'AGENT' });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

async function create(name, text) {
  const { createProgram } = await data(
    `mutation ($input: CreateProgramInput!) {
      createProgram(input: $input) { program { functions(first: 100) { nodes { name ref text } } } errors { message line } }
    }`,
    { input: { name, text } },
  );
  assert.deepEqual(createProgram.errors, []);
  return Object.fromEntries(createProgram.program.functions.nodes.map((found) => [found.name, found]));
}
const sha = await create(SHA, readFileSync(new URL('../../examples/sha256.lm', import.meta.url), 'utf8'));
const shop = await create(SHOP, TEXT);

const pages = await Pages.open(server, 'player');
const open = (address, options) => pages.page(address, options);
async function accessible(page, view) {
  await pages.accessible(page, view);
  await fits(page, view);
}

const player = (page, more = '') => page.locator(`.player[data-acting="false"]${more}`);
/** Waits until the run stands before a step. */
const stands = (page, step) => player(page, `[data-position="${step}"]`).waitFor();
const positionOf = async (page) => Number(await page.locator('.player').getAttribute('data-position'));
const statusOf = (page, status) => player(page, `[data-status="${status}"]`).waitFor();
/** Presses a key, and waits until the run has come to another step. */
async function move(page, key) {
  const before = await page.locator('.player').getAttribute('data-position');
  await page.keyboard.press(key);
  await page.locator(`.player[data-acting="false"]:not([data-position="${before}"])`).waitFor();
  return await positionOf(page);
}

const page = await open(`/#/p/${SHA}/f/${sha.sha256.ref}`);
try {
  // From the function to its form, and to a run of it.
  await page.locator('.box').first().waitFor();
  await page.getByRole('link', { name: 'Run', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'message string' }).fill('abc');
  await accessible(page, 'form');
  await page.getByRole('textbox', { name: 'message string' }).focus();
  await page.getByRole('button', { name: 'Start' }).focus();
  await page.keyboard.press('Enter');
  await stands(page, 0);
  await page.locator('.box.here').waitFor();
  await page.locator('[data-follow="connected"]').waitFor();
  // How long it is was found out by a run of its own.
  await page.getByText(/^of 7,/).waitFor();
  await accessible(page, 'start');
  // A step that is none says which there are.
  const step = page.getByLabel('step', { exact: true });
  await step.fill('foo');
  await page.locator('#goto-slip[role="alert"]', { hasText: 'A number from 0' }).waitFor();
  assert.equal(await step.getAttribute('aria-describedby'), 'goto-slip');
  await accessible(page, 'no-step');
  await step.press('Escape');
  await page.locator('#goto-slip').waitFor({ state: 'detached' });
  const address = page.url();
  const watcher = await open(`/${new URL(address).hash}`);
  await stands(watcher, 0);
  await watcher.locator('[data-follow="connected"]').waitFor();

  // Steps: in, over, out and back; the text and the graph stand at the same node, and the other page follows.
  await page.locator('.player').focus();
  assert.equal(await move(page, 's'), 1);
  assert.equal(await move(page, 's'), 2);
  assert.equal(await move(page, 'b'), 1);
  while (!(await page.locator('.text-line.here-line', { hasText: 'call pad' }).count())) await move(page, 'o');
  const call = await positionOf(page);
  assert.equal(await move(page, 's'), call + 1);
  await page.locator(`[data-stage="${sha.pad.ref}"] .box.here`).waitFor();
  assert.equal(await page.locator('.stack-frame').count(), 2);
  const inside = await page.locator('.box.here').getAttribute('data-ref');
  await page.locator(`.w-node.here[data-node="${inside}"]`).waitFor();
  await stands(watcher, call + 1);
  await watcher.locator(`[data-stage="${sha.pad.ref}"] .box.here`).waitFor();
  // The call around is looked at without a move.
  await page.keyboard.press('[');
  await page.locator(`[data-stage="${sha.sha256.ref}"] .box.here`).waitFor();
  await page.keyboard.press(']');
  await page.locator(`[data-stage="${sha.pad.ref}"]`).waitFor();
  const out = await move(page, 'u');
  assert.ok(out > call + 10, 'the whole call was run');
  await page.locator(`[data-stage="${sha.sha256.ref}"] .box.here`).waitFor();
  await page.locator('[data-known="padded"]').waitFor();

  // Scrubbed by the slider's keys and to a step by its number.
  const slider = page.getByRole('slider', { name: 'Step' });
  await slider.focus();
  assert.equal(await move(page, 'ArrowRight'), out + 1);
  // Arrow keys go a step elsewhere in the player, too; in the graph they lead from node to node, and the run stays.
  assert.equal(await move(page, 'ArrowLeft'), out);
  await page.locator('.player').focus();
  assert.equal(await move(page, 'ArrowRight'), out + 1);
  assert.equal(await move(page, 'ArrowLeft'), out);
  await page.getByRole('button', { name: 'Step in' }).focus();
  assert.equal(await move(page, 'ArrowRight'), out + 1);
  await page.getByRole('application').focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForURL((url) => url.hash.includes('node='), { timeout });
  await page.locator('.box.selected').waitFor();
  assert.equal(await positionOf(page), out + 1);
  // Why, and why not, of what is selected.
  await page.keyboard.press('n');
  await page.getByRole('region', { name: /^Why did .* not run\?$/ }).waitFor();
  await page.keyboard.press('w');
  await page.getByRole('region', { name: /^Why is .* what it is\?$/ }).waitFor();
  await page.getByRole('tab', { name: 'State' }).click();
  await page.getByRole('application').focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.type('3,000');
  await page.keyboard.press('Enter');
  await stands(page, 3000);
  await page.waitForURL((url) => url.hash.includes('step=3000'), { timeout });
  await page.locator(`[data-stage="${sha.majority.ref}"] .box.here`).waitFor();
  await page.locator('.box-value').first().waitFor();
  await accessible(page, 'scrubbed');

  // The steps around it, and why a value is what it is: each step is a place to go to.
  await page.getByRole('tab', { name: 'Steps' }).click();
  await page.locator('[data-seq="2999"][data-current="true"]').waitFor();
  assert.ok((await page.locator('.steps-rows > li').count()) <= 120, 'a page of steps, never all');
  await accessible(page, 'steps');
  await page.getByRole('button', { name: 'Why, of step 2999' }).focus();
  await page.keyboard.press('Enter');
  const why = page.getByRole('region', { name: /^Why step/ });
  await why.locator('[data-seq="2999"]').waitFor();
  await accessible(page, 'why');
  const [first] = await why.locator('li').evaluateAll((rows) => rows.map(({ dataset }) => Number(dataset.seq)));
  await why.locator('.steps-row').first().focus();
  await page.keyboard.press('Enter');
  await stands(page, first);
  await page.getByRole('tab', { name: 'State' }).click();

  // To a breakpoint, on a condition, to the end, and back again.
  assert.equal(await move(page, '0'), 0);
  await statusOf(page, 'READY');
  await page.getByRole('tab', { name: 'Breakpoints' }).click();
  await page.getByLabel('Stop at').fill('sha256::mixx');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('there is no').waitFor();
  await page.getByLabel('Stop at').fill('sha256::mix');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Remove the breakpoint/ }).waitFor();
  await accessible(page, 'breakpoints');
  await page.locator('.player').focus();
  const hit = await move(page, 'r');
  await page.locator('.stops-row[data-here="true"]').waitFor();
  await page.locator(`[data-stage="${sha.mix.ref}"] .box.here`).waitFor();
  const next = await move(page, 'r');
  assert.ok(next > hit);
  assert.equal(await move(page, 'R'), hit);
  // Where it stands is a breakpoint of its own, by key; the function's is taken away.
  await page.getByRole('button', { name: /^Remove the breakpoint/ }).click();
  await page.getByText('No breakpoint.').waitFor();
  await page.keyboard.press('x');
  await page.locator('.box.here .box-stop[aria-pressed="true"]').waitFor();
  await watcher.locator('.box-stop[aria-pressed="true"]').waitFor();
  assert.equal(await move(page, 'r'), next);
  await page.keyboard.press('x');
  await page.getByText('No breakpoint.').waitFor();
  await move(page, 'r');
  await statusOf(page, 'COMPLETED');
  await page.locator('[data-outcome="Returned"]', { hasText: DIGEST }).waitFor();
  await watcher.locator('[data-outcome="Returned"]', { hasText: DIGEST }).waitFor();
  await accessible(page, 'returned');
  // What it returned is kept as a test case, by whoever knows all that it was given.
  const keep = { name: 'Keep as a test case' };
  assert.equal(await watcher.getByRole('button', keep).count(), 0);
  await page.getByRole('button', keep).click();
  await page.getByRole('link', { name: /^case “gives "ba7816/ }).waitFor();
  await accessible(page, 'kept');
  await page.locator('.player').focus();
  assert.equal(await move(page, 'R'), 0);
  // It plays by itself until it is paused.
  await page.getByLabel('Speed of play').selectOption('1000');
  await page.locator('.player').focus();
  await page.keyboard.press('p');
  await page.locator('.player:not([data-position="0"])').waitFor();
  await page.keyboard.press('p');
  await page.getByRole('button', { name: 'Play' }).waitFor();
  // The list of keys; a deep link opens at its step.
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await accessible(page, 'keys');
  await page.keyboard.press('Escape');
  const linked = await open(`/${new URL(address).hash.replace(/step=\d+/, 'step=1234')}`, {
    viewport: { width: 390, height: 844 },
  });
  await stands(linked, 1234);
  await stands(watcher, 1234);
  for (const tab of ['Graph', 'Text', 'State', 'Steps', 'Breakpoints', 'Why']) {
    await linked.getByRole('tab', { name: tab }).click();
    await accessible(linked, `narrow-${tab.toLowerCase()}`);
    if (tab !== 'Text') continue;
    const wider = await linked.locator('.text').evaluate((pane) => pane.scrollWidth - pane.clientWidth);
    assert.equal(wider, 0, 'the lines of the text are as wide as the page');
  }
  await linked.context().close();
  await page.getByRole('button', { name: 'Cancel the simulation' }).click();
  await watcher.locator('[data-outcome="Cancelled"]').waitFor();
  // What was begun elsewhere says so, and what it was given can be taken over.
  await watcher.locator('.player-in', { hasText: 'with abc, begun elsewhere' }).waitFor();
  await watcher.getByRole('link', { name: 'New run' }).click();
  await watcher.getByLabel('from').selectOption({ index: 1 });
  assert.equal(await watcher.getByRole('textbox', { name: 'message string' }).inputValue(), 'abc');
  await accessible(watcher, 'taken-over');
  await watcher.context().close();

  // A form of the parameters' types; slips are told here, errors of the server at their field.
  await page.goto(new URL(`/#/p/${SHOP}/f/${shop.total.ref}/run`, server).href);
  await page.getByLabel('price i64').fill('25o');
  await page.getByLabel('name string').fill('tea');
  for (const [at, count] of ['2', '3'].entries()) {
    await page.getByRole('button', { name: 'Add an element' }).click();
    await page.getByLabel(`${at} i64`).fill(count);
  }
  await page.getByLabel('payment Payment').selectOption({ label: 'card' });
  await page.getByLabel('tip option<i64>').selectOption({ label: 'some' });
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText('takes a whole number').waitFor();
  await page.getByLabel('price i64').fill('99999999999999999999');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('alert').getByText('has no value in').waitFor();
  await accessible(page, 'typed');
  await page.getByLabel('price i64').fill('250');
  await page.getByRole('button', { name: 'Start' }).click();
  await stands(page, 0);
  // The loop says in which round it stands; what was printed shows.
  while (!(await page.locator('.scene-rounds', { hasText: 'round 2' }).count())) {
    await move(page, 's');
    await page.locator('.box.here').waitFor();
  }
  await page.locator('.output', { hasText: 'one more' }).waitFor();
  await move(page, 'r');
  await page.locator('[data-outcome="Returned"]', { hasText: '1250' }).waitFor();

  // Globals and memory stand beside the values, and an outer call has its own.
  await page.goto(new URL(`/#/p/${SHOP}/f/${shop.sell.ref}/run`, server).href);
  await page.getByLabel('count i64').fill('21');
  await page.getByRole('button', { name: 'Start' }).click();
  await stands(page, 0);
  const globals = page.getByRole('region', { name: 'Globals' });
  await globals.locator('[data-known="sold"]', { hasText: 'i64:0' }).waitFor();
  await page.getByLabel('Address').fill('70000');
  await page.getByText('The memory ends at 65,536.').waitFor();
  await page.getByLabel('Address').fill('0x10a');
  await page.keyboard.press('Enter');
  const bytes = page.locator('.memory[data-address="256"]');
  await bytes.getByText('0x00000100').waitFor();
  await page.locator('.player').focus();
  while (!(await page.locator(`[data-stage="${shop.note.ref}"]`).count())) await move(page, 's');
  while (!(await bytes.locator('mark').count())) {
    await move(page, 's');
    // The bytes come behind the step.
    await page.locator('.memory[data-fresh="true"]').waitFor();
  }
  await bytes.getByText('2a', { exact: true }).waitFor();
  await globals.locator('[data-known="sold"]', { hasText: 'i64:42' }).waitFor();
  const parameters = page.getByRole('region', { name: 'Parameters' });
  await parameters.locator('[data-known="sum"]', { hasText: 'i64:42' }).waitFor();
  await page.keyboard.press('[');
  await parameters.locator('[data-known="count"]', { hasText: 'i64:21' }).waitFor();
  await page.locator('.box', { hasText: 'twice' }).locator('.box-value', { hasText: '42' }).waitFor();
  await accessible(page, 'memory');
  await globals.getByRole('button', { name: 'Stop where sold changes' }).click();
  await page.getByRole('tab', { name: 'Breakpoints (1)' }).waitFor();

  // What traps says where; what has a hole leads to it; the inputs of an earlier run come back.
  await page.goto(new URL(`/#/p/${SHOP}/f/${shop.part.ref}/run`, server).href);
  await page.getByLabel('whole i64').fill('12');
  await page.getByRole('button', { name: 'Start' }).click();
  await stands(page, 0);
  await move(page, 'r').catch(() => {});
  await page.locator('[data-outcome="Trapped"]', { hasText: 'DIVISION_BY_ZERO' }).waitFor();
  await accessible(page, 'trapped');
  await page.getByRole('link', { name: 'New run' }).click();
  await page.getByLabel('from').selectOption({ index: 1 });
  assert.equal(await page.getByLabel('whole i64').inputValue(), '12');
  await page.goto(new URL(`/#/p/${SHOP}/f/${shop.rest.ref}/run`, server).href);
  await page.getByText('a run stops where it comes to that').waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.locator('[data-outcome="ReachedHole"]').waitFor();
  await page.getByRole('link', { name: 'Go to the hole' }).click();
  await page.locator('.box.selected .cell.hole').waitFor();
  await page.goto(new URL(`/#/p/${SHOP}/f/${shop.rest.ref}/run?sim=S-00000000-0000-4000-8000-000000000000`, server).href);
  await page.getByRole('heading', { name: 'This run is not kept any more' }).waitFor();
  await accessible(page, 'expired');

  // By hand: a mistake shows at its place while one types, then the difference, then it is made.
  await page.goto(new URL(`/#/p/${SHOP}/f/${shop.part.ref}`, server).href);
  await page.locator('.box').first().waitFor();
  await page.getByRole('link', { name: 'Edit', exact: true }).focus();
  await page.keyboard.press('Enter');
  const editor = page.getByRole('textbox', { name: 'Text of shop::part' });
  const written = await editor.inputValue();
  assert.ok(!/#n\d/.test(written), 'the text has no refs');
  await editor.fill(written.replace('div_s.i64 whole, parts', 'div_s.i64 whole, partz'));
  await page.locator('[data-tried="EditRejected"]').waitFor();
  await page.getByText('there is parts').waitFor();
  await accessible(page, 'mistake');
  await page.getByRole('button', { name: /^line 2/ }).focus();
  await page.keyboard.press('Enter');
  assert.equal(await editor.evaluate((field) => field.value.slice(field.selectionStart, field.selectionEnd)), 'partz');
  await page.keyboard.type('whole');
  await page.locator('[data-tried="EditApplied"]').waitFor();
  await page.locator('.unified-line.added', { hasText: 'whole, whole' }).waitFor();
  await accessible(page, 'difference');
  const change = page.getByRole('region', { name: 'What would change' });
  await change.getByRole('tab', { name: 'Graph' }).click();
  await change
    .getByRole('application', { name: 'Graph of the difference of shop::part' })
    .getByRole('group', { name: /^changed, input b was parts and is whole, share = div_s\.i64, / })
    .waitFor();
  await accessible(page, 'difference-graph');

  // Somebody is faster: that is told, a reload keeps the draft, and it goes on top of theirs.
  await data(
    `mutation ($input: ProposeEditInput!) { proposeEdit(input: $input) { outcome { __typename } } }`,
    { input: { programId: SHOP, edits: [{ replaceFunctionText: { ref: 'shop::part', text: written.replace('whole, parts', 'parts, whole') } }] } },
  );
  const conflict = page.getByRole('region', { name: 'Conflict' });
  await conflict.locator('.unified-line.added', { hasText: 'parts, whole' }).waitFor();
  await accessible(page, 'conflict');
  await page.reload();
  await conflict.waitFor();
  assert.match(await editor.inputValue(), /whole, whole/);
  await page.getByRole('button', { name: /^Keep mine/ }).click();
  await page.locator('[data-tried="EditApplied"]').waitFor();
  await editor.focus();
  await page.keyboard.press('Control+Enter');
  await page.getByText('Applied as r3').waitFor();
  const { program } = await data('query ($name: String!) { program(name: $name) { function(name: "shop::part") { text } } }', { name: SHOP });
  assert.match(program.function.text.replaceAll(/#\w+/g, ''), /div_s.i64 whole, whole/);

  // Another name: one that is taken is refused while it is typed.
  const name = page.getByRole('form', { name: 'Rename the function' });
  await name.getByRole('textbox').fill('rest');
  await name.locator('[data-tried="EditRejected"]').waitFor();
  await name.getByRole('textbox').fill('share');
  await name.locator('[data-tried="EditApplied"]').waitFor();
  await name.locator('.unified-line.added', { hasText: 'func share' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'share' }).waitFor();

  // Ports are connected by hand: what does not fit is refused before it is dropped, what fits is previewed.
  const holes = 'pub func due (price: i64, count: i64) -> (i64) {\n  sum = mul.i64 price, count\n  cheap = lt_s.i64 sum, 100\n  cost = if cheap -> (i64) { yield (add.i64 sum, _) } else { yield _ }\n  return cost\n}\n';
  await data(
    `mutation ($input: ProposeEditInput!) { proposeEdit(input: $input) { outcome { __typename } } }`,
    { input: { programId: SHOP, edits: [{ addText: { module: 'shop', text: holes } }] } },
  );
  await page.goto(pages.address(`/#/p/${SHOP}/f/shop::due`));
  await page.locator('.cell.hole').nth(1).waitFor();
  await page.getByRole('button', { name: 'Connect ports' }).click();
  const middle = async (cell) => {
    const { x, y, width, height } = await cell.boundingBox();
    return [x + width / 2, y + height / 2];
  };
  const price = page.locator('.box-params .cell', { hasText: 'price' });
  const draw = async (...targets) => {
    await page.mouse.move(...(await middle(price)));
    await page.mouse.down();
    for (const target of targets) await page.mouse.move(...(await middle(target)), { steps: 3 });
  };
  await draw(page.locator('.cell', { hasText: 'condition' }));
  await page.getByText('refused: cost · condition takes bool, not i64').waitFor();
  await accessible(page, 'refused');
  await page.mouse.up();
  await page.getByText('refused:').waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('dialog').count(), 0);
  await draw(page.locator('.box', { hasText: 'add.i64' }).locator('.cell.hole').last());
  await page.mouse.up();
  await page.getByRole('dialog').locator('.unified-line.added', { hasText: 'sum, price' }).waitFor();
  await accessible(page, 'connect');

  // What it would change is a graph as well, in front of the one that it was drawn in; Escape there lets go of a node first.
  const preview = page.getByRole('dialog');
  await preview.getByRole('tab', { name: 'Graph' }).click();
  const foreseen = preview.getByRole('application', { name: 'Graph of the difference of shop::due' });
  await foreseen.getByRole('group', { name: /^changed, input b was a hole and is price, add\.i64, / }).waitFor();
  await accessible(page, 'connect-graph');
  await foreseen.focus();
  await page.keyboard.press('n');
  await preview.getByRole('region', { name: /^Node n\d+$/ }).waitFor();
  await page.keyboard.press('Escape');
  await preview.getByRole('region', { name: /^Node n\d+$/ }).waitFor({ state: 'detached' });
  await preview.getByRole('tab', { name: 'Structure' }).click();
  await preview.getByRole('list', { name: 'What differs in shop::due' }).getByText('add.i64').first().waitFor();
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.querySelectorAll('.cell.hole').length === 1, null, { timeout });

  // The same by keyboard.
  await page.getByRole('application').focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('c');
  const box = page.getByRole('dialog');
  await box.getByLabel('To').selectOption({ label: await box.locator('option', { hasText: '(a hole)' }).textContent() });
  await box.getByLabel('From').selectOption({ label: 'count: i64' });
  await accessible(page, 'connect-keys');
  await box.getByRole('button', { name: 'Preview' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').locator('.unified-line.added', { hasText: 'yield' }).waitFor();
  await page.getByRole('dialog').getByText('Nothing new.').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.cell.hole').waitFor({ state: 'detached' });

  // Somebody gives it another name under the open page: the page and its address go with it.
  await page.goto(new URL(`/#/p/${SHOP}/f/shop::due`, server).href);
  await page.locator('.box').first().waitFor();
  const { program: owing } = await data(
    'query ($name: String!) { program(name: $name) { programId function(name: "shop::due") { ref } } }',
    { name: SHOP },
  );
  await data('mutation ($input: ProposeEditInput!) { proposeEdit(input: $input) { outcome { __typename } } }', {
    input: { programId: owing.programId, edits: [{ renameFunction: { ref: owing.function.ref, name: 'owed' } }] },
  });
  await page.getByRole('heading', { name: 'shop::owed' }).waitFor();
  await page.waitForURL((url) => decodeURIComponent(url.hash).endsWith('/f/shop::owed'), { timeout });

  // The form of a run goes with what its function takes, and says when there is none any more.
  const shopEdit = (edit) =>
    data('mutation ($input: ProposeEditInput!) { proposeEdit(input: $input) { outcome { __typename } } }', {
      input: { programId: owing.programId, edits: [edit] },
    });
  const twice = (params) => `pub func twice (${params}) -> (i64) pure {\n  return (add.i64 x, x)\n}\n`;
  await shopEdit({ addText: { module: 'shop', text: twice('x: i64') } });
  await page.goto(new URL(`/#/p/${SHOP}/f/shop::twice/run`, server).href);
  await page.getByLabel('x i64').fill('21');
  await shopEdit({ replaceFunctionText: { ref: 'shop::twice', text: twice('x: i64, y: i64') } });
  await page.getByLabel('y i64').fill('22');
  await shopEdit({ renameFunction: { ref: 'shop::twice', name: 'doubled' } });
  await page.getByRole('heading', { name: 'shop::doubled' }).waitFor();
  await page.waitForURL((url) => decodeURIComponent(url.hash).endsWith('/f/shop::doubled/run'), { timeout });
  assert.equal(await page.getByLabel('y i64').inputValue(), '22', 'what was entered stays');
  await shopEdit({ removeFunction: { ref: 'shop::doubled' } });
  await page.getByText('The newest revision has no function of this name any more').waitFor();
  assert.equal(await page.getByLabel('y i64').inputValue(), '22', 'what was entered stays');
  await accessible(page, 'gone');

  pages.finish();
  console.log('a run is stepped, scrubbed, run to breakpoints and back, and a text edited by hand, by keyboard, light and dark');
} catch (error) {
  await page.screenshot({ path: join(pages.pictures, 'failed.png') });
  throw error;
} finally {
  await pages.close();
}
