// Runs of flows and what they ask, in Chromium: a run is started by its form, once however often the button is pressed; its
// page and the inbox follow it live; one question is approved and one rejected by keyboard, one is answered by somebody else
// meanwhile, one has a base that is stale, and one is asked because a test case broke; a run is cancelled, another one forked,
// and what a rewind would undo is shown before it is done.
import assert from 'node:assert/strict';

import { post } from './http.mjs';
import { fits, Pages, settled, tabTo, timeout } from './pages.mjs';

const server = process.argv[2];
const NAME = `reviews-${process.pid}`;
const total = (cost) => `pub func total (price: i64, count: i64) -> (i64) pure {
  sum = mul.i64 price, count
  cost = ${cost}
  return cost
}
`;
const fee = (number) => total(`add.i64 sum, ${number}`);
const says = (what) => `${what} ${process.pid}`;

async function data(query, variables, author = 'planner') {
  const answer = await post(server, query, variables, { 'lmlang-author': author, 'lmlang-author-kind': 'AGENT' });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

/** Works on a branch of its own, as an agent does. */
async function work(branch, text, message) {
  await data('mutation ($input: CreateBranchInput!) { createBranch(input: $input) { branch { name } } }', {
    input: { programId: NAME, name: branch },
  });
  const edits = [{ replaceFunctionText: { ref: 'shop::total', text } }];
  const { proposeEdit } = await data(
    'mutation ($input: ProposeEditInput!) { proposeEdit(input: $input) { outcome { __typename } } }',
    { input: { programId: NAME, branch, edits, message } },
  );
  assert.equal(proposeEdit.outcome.__typename, 'EditApplied');
}

/** Starts a run about a branch; returns its id. */
async function start(branch, text, message) {
  await work(branch, text, message);
  return begin({ program: NAME, branch, message });
}

async function begin(given) {
  const input = { flow: 'review', input: given };
  const { startRun } = await data('mutation ($input: StartRunInput!) { startRun(input: $input) { run { id } } }', { input });
  return startRun.run.id;
}

/** The questions of a run that are open. */
async function questions(id) {
  const { run } = await data('query ($id: ID!) { run(id: $id) { interrupts { id status } } }', { id });
  return run.interrupts.filter(({ status }) => status === 'OPEN').map(({ id }) => id);
}

async function head() {
  const { program } = await data('query ($name: String!) { program(name: $name) { revision { number } } }', { name: NAME });
  return program.revision.number;
}

const { createProgram } = await data(
  'mutation ($input: CreateProgramInput!) { createProgram(input: $input) { errors { message line } } }',
  { input: { name: NAME, text: `module shop\n\n; What things cost together.\n${fee(5)}` } },
);
assert.deepEqual(createProgram.errors, []);
await data('mutation ($input: AddCaseInput!) { addCase(input: $input) { case { status } } }', {
  input: { programId: NAME, function: 'shop::total', name: 'it costs something', args: [2, 3] },
});

const pages = await Pages.open(server, 'runs');
const dialog = (page) => page.getByRole('dialog');
const row = (page, id) => page.locator(`[data-question="${id}"]`);
const stands = (page, status) => page.locator(`[data-status="${status}"]`).waitFor();
const live = (page) => page.locator('[data-live="connected"]').waitFor();

/** Waits in an open inbox for the question of a run, and selects it. */
async function asked(inbox, message, run) {
  await inbox.locator('.inbox-list').getByRole('button').filter({ hasText: 'review' }).first().waitFor();
  let [id] = await questions(run);
  for (const end = Date.now() + timeout; !id && Date.now() < end; [id] = await questions(run))
    await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(id, `${message} asks`);
  await row(inbox, id).click();
  await inbox.locator('.question').getByRole('link', { name: /^review/ }).first().waitFor();
  return id;
}

try {
  // A form of the flow's schema: what is missing is told at its field, and two clicks start one run.
  const page = await pages.page('/#/runs');
  const inbox = await pages.page('/#/approvals');
  await inbox.getByRole('heading', { name: 'Approvals' }).waitFor();
  await live(page);
  await live(inbox);
  await settled(page);
  await pages.accessible(page, 'runs-before');
  await pages.accessible(inbox, 'approvals-before');
  await page.goto(pages.address('/#/runs/new?flow=review'));
  const form = page.getByRole('form', { name: 'Input of review' });
  await form.getByRole('button', { name: 'Start' }).click();
  await form.getByText(/is needed/).first().waitFor();
  await pages.accessible(page, 'start');
  const field = (name) => form.getByLabel(new RegExp(`^${name}`, 'i'));
  await field('program').fill(NAME);
  await form.getByRole('button', { name: 'Start' }).click();
  await form.getByText(/a branch, a text or a patch is missing/).waitFor();
  await pages.accessible(page, 'start-refused');
  await work('higher', fee(7), says('A higher fee'));
  // Of the program that is named, the branches are offered, those of meanwhile too.
  await field('branch').focus();
  await form.locator('datalist option', { hasText: /^higher$/ }).first().waitFor({ state: 'attached' });
  await field('branch').fill('higher');
  await field('message').fill(says('A higher fee'));
  // Whoever leaves and comes back finds what they entered.
  await page.getByRole('link', { name: 'All runs' }).click();
  await page.getByRole('link', { name: 'Start a run' }).first().waitFor();
  await page.goBack();
  await form.waitFor();
  assert.deepEqual([await field('program').inputValue(), await field('branch').inputValue()], [NAME, 'higher']);
  await form.getByRole('button', { name: 'Start' }).dblclick();
  await page.waitForURL((url) => /#\/runs\/(?!new)/.test(url.hash), { timeout });
  const first = decodeURIComponent(/#\/runs\/([^?]+)/.exec(page.url())[1]);

  // Its page follows it to the question, and so does the inbox: nobody has loaded anything anew.
  await page.getByRole('heading', { name: /^review/ }).waitFor();
  await stands(page, 'WAITING');
  await page.locator('.flow-node.waiting').waitFor();
  await page.locator('.step[data-node="ask_confirm"][data-state="waiting"]').waitFor();
  await page.locator('.run-question').getByText('shop::total').first().waitFor();
  await pages.accessible(page, 'waiting');
  const { runs } = await data('{ runs(flow: "review", first: 50) { nodes { program { name } } } }');
  assert.equal(runs.nodes.filter(({ program }) => program?.name === NAME).length, 1, 'two clicks start one run');
  const question = await asked(inbox, 'the first run', first);
  await inbox.waitForFunction(() => /^\(\d+\) /.test(document.title), null, { timeout });
  assert.match(await inbox.locator('link[rel="icon"]').getAttribute('href'), /d92d20/, 'the icon has a dot');
  const change = inbox.getByRole('region', { name: 'What approving would change' });
  await change.getByText('shop::total').first().waitFor();
  const gates = inbox.getByRole('region', { name: 'What the gates have found' });
  await gates.getByText('1 of 1 test case holds').waitFor();
  await gates.getByText('No new finding').waitFor();
  await inbox.getByRole('region', { name: 'Evidence' }).getByText('gate_cases').waitFor();
  await pages.accessible(inbox, 'question');

  // What would change is a graph as well; keys that lead through it are none of the inbox.
  await change.getByRole('button', { name: 'graph of shop::total' }).click();
  const graph = change.getByRole('application', { name: 'Graph of the difference of shop::total' });
  await graph.getByRole('group', { name: /^changed, value was 5 and is 7, / }).waitFor();
  await pages.accessible(inbox, 'question-graph');
  await graph.focus();
  await inbox.keyboard.press('ArrowDown');
  await change.getByRole('region', { name: /^Node n\d+$/ }).waitFor();
  assert.equal(await row(inbox, question).getAttribute('aria-current'), 'true');

  // Two keystrokes approve; the run goes on and commits.
  const before = await head();
  await row(inbox, question).focus();
  await inbox.keyboard.press('a');
  await inbox.getByRole('form', { name: 'Approve' }).waitFor();
  await inbox.keyboard.press('Escape');
  await inbox.getByRole('form', { name: 'Approve' }).waitFor({ state: 'detached' });
  assert.deepEqual(await questions(first), [question], 'nothing is answered before it is confirmed');
  await inbox.keyboard.press('a');
  await inbox.getByRole('form', { name: 'Approve' }).waitFor();
  await pages.accessible(inbox, 'confirm');
  await inbox.keyboard.press('Enter');
  await row(inbox, question).getByText(/^approved by /).waitFor();
  await stands(page, 'COMPLETED');
  const committed = await head();
  assert.ok(committed > before, 'an approval is committed');
  await page.getByRole('link', { name: `committed r${committed}` }).waitFor();
  await page.locator('.flow-node.visited', { hasText: 'end' }).waitFor();
  await pages.accessible(page, 'completed');

  // Densities, details, the state, and what failed; the address keeps them.
  await page.getByRole('button', { name: 'detailed', exact: true }).click();
  await page.waitForURL((url) => url.hash.includes('density=detailed'), { timeout });
  const step = page.locator('.step').first();
  await step.getByRole('button').first().click();
  await step.getByText('What it changed in the state').waitFor();
  await page.getByText('State', { exact: true }).click();
  await page.getByRole('group', { name: 'State of the run' }).waitFor();
  await pages.accessible(page, 'detailed');
  await page.getByRole('button', { name: 'compact', exact: true }).click();
  await page.getByRole('checkbox', { name: 'failed only' }).check();
  await page.waitForURL((url) => url.hash.includes('failed=true') && url.hash.includes('density=compact'), { timeout });
  await page.getByText('No step failed').waitFor();
  await page.getByRole('checkbox', { name: 'failed only' }).uncheck();

  // A rewind shows first what it would undo, and a fork what it begins; both can be left.
  await step.waitFor();
  if ((await step.getByRole('button', { name: /^Rewind/ }).count()) === 0) await step.getByRole('button').first().click();
  await step.getByRole('button', { name: 'Rewind to here…' }).click();
  await dialog(page).getByText(/^Taken back/).waitFor();
  await dialog(page).getByText(`r${committed}`).first().waitFor();
  const comes = dialog(page).getByRole('region', { name: 'What it comes to' });
  await comes.getByText(/will not count any more/).waitFor();
  await comes.getByText('Revisions are taken back on main').waitFor();
  await settled(page);
  await pages.accessible(page, 'rewind');
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  assert.equal(await head(), committed, 'a preview undoes nothing');
  await step.getByRole('button', { name: 'Fork from here…' }).click();
  await dialog(page).getByText('This one stays as it is').waitFor();
  await dialog(page).getByText(/and goes on with/).waitFor();
  await pages.accessible(page, 'fork');
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });

  // A rejection with a word on what should be different.
  const second = await start('dear', fee(9), says('Another fee'));
  const rejected = await asked(inbox, 'the second run', second);
  await row(inbox, rejected).focus();
  await inbox.keyboard.press('r');
  await inbox.getByRole('form', { name: 'Reject' }).waitFor();
  await inbox.keyboard.type('Too dear.');
  // Words that were not sent are there again.
  await inbox.getByRole('link', { name: 'Runs', exact: true }).click();
  await inbox.getByRole('heading', { name: 'Runs' }).waitFor();
  await inbox.goBack();
  await row(inbox, rejected).focus();
  await inbox.keyboard.press('r');
  await inbox.getByRole('form', { name: 'Reject' }).waitFor();
  assert.equal(await inbox.getByLabel(/^What should be different/).inputValue(), 'Too dear.');
  await pages.accessible(inbox, 'reject');
  await inbox.keyboard.press('Enter');
  await row(inbox, rejected).getByText(/^rejected by /).waitFor();
  assert.equal(await head(), committed, 'what was rejected is not committed');
  await page.goto(pages.address(`/#/runs/${encodeURIComponent(second)}`));
  await page.getByText('Too dear.').first().waitFor();

  // Somebody else is first, while the answer is about to be given: the inbox says so, and the row stays.
  const third = await start('third', fee(11), says('A third fee'));
  const contested = await asked(inbox, 'the third run', third);
  await row(inbox, contested).focus();
  await inbox.keyboard.press('a');
  await inbox.getByRole('form', { name: 'Approve' }).waitFor();
  await inbox.getByLabel(/^Reason/).fill('Good as it is');
  const answer = { interruptId: contested, answer: { confirm: false }, reason: 'not this one' };
  const { answerInterrupt } = await data(
    'mutation ($input: AnswerInterruptInput!) { answerInterrupt(input: $input) { outcome { __typename } } }',
    { input: answer },
    'carol',
  );
  assert.equal(answerInterrupt.outcome.__typename, 'Answered');
  await row(inbox, contested).getByText('rejected by carol').waitFor();
  await inbox.locator('.question').getByText('not this one').waitFor();
  await inbox.getByRole('form', { name: 'Approve' }).waitFor({ state: 'detached' });
  await inbox.getByText('carol decided first; your words were not sent').waitFor();
  await inbox.getByText('Good as it is').waitFor();

  // A program that has moved on is told before the answer.
  const fourth = await start('fourth', fee(13), says('A fourth fee'));
  await asked(inbox, 'the fourth run', fourth);
  const edits = [{ setDoc: { ref: 'shop::total', doc: 'What things cost.' } }];
  await data('mutation ($input: ProposeEditInput!) { proposeEdit(input: $input) { outcome { __typename } } }', {
    input: { programId: NAME, edits, message: 'A doc meanwhile' },
  });
  await inbox.getByText(/^The program has moved on from r\d+ to r\d+/).waitFor();
  await pages.accessible(inbox, 'stale');

  // The run is cancelled by keyboard, with a reason; its question goes.
  await page.goto(pages.address(`/#/runs/${encodeURIComponent(fourth)}`));
  await page.getByRole('heading', { name: /^review/ }).waitFor();
  await tabTo(page, page.getByRole('button', { name: 'Cancel…' }));
  await page.keyboard.press('Enter');
  await dialog(page).getByRole('heading', { name: 'Cancel this run' }).waitFor();
  await pages.accessible(page, 'cancel');
  await page.keyboard.type('Not needed any more');
  await page.keyboard.press('Enter');
  await stands(page, 'CANCELLED');
  assert.deepEqual(await questions(fourth), []);

  // A branch that breaks a test case is not merged: what the gate says stands with the question, and a digit answers it.
  const broken = await start('broken', total('div_s.i64 sum, 0'), says('No fee at all'));
  const choice = await asked(inbox, 'the run of a broken branch', broken);
  await gates.getByText(/the test case it costs something broke/).waitFor();
  await gates.getByText('0 of 1 test case holds').waitFor();
  await pages.accessible(inbox, 'broken');
  await row(inbox, choice).focus();
  await inbox.keyboard.press('2');
  await inbox.getByRole('form', { name: 'Choose “withdraw”' }).waitFor();
  await inbox.keyboard.press('Enter');
  await row(inbox, choice).getByText(/^chose by /).waitFor();

  // A fork says what it comes from.
  await page.goto(pages.address(`/#/runs/${encodeURIComponent(broken)}`));
  await stands(page, 'COMPLETED');
  await step.getByRole('button').first().click();
  await step.getByRole('button', { name: 'Fork from here…' }).click();
  await dialog(page).getByRole('button', { name: 'Fork', exact: true }).click();
  await page.waitForURL((url) => !url.hash.includes(encodeURIComponent(broken)), { timeout });
  await stands(page, 'WAITING');
  await page.locator('.run-facts').getByText('forked from').waitFor();
  await pages.accessible(page, 'forked');

  // What was decided, by whom, stands under its own tab.
  await inbox.getByRole('tab', { name: /^Open/ }).focus();
  await inbox.keyboard.press('ArrowRight');
  await inbox.waitForURL((url) => url.hash.includes('status=ANSWERED'), { timeout });
  await row(inbox, contested).getByText('rejected by carol').waitFor();
  await row(inbox, question).click();
  await inbox.locator('.question .decision').getByText('approved').waitFor();
  await pages.accessible(inbox, 'answered');
  await inbox.getByRole('button', { name: 'Keys' }).click();
  await dialog(inbox).getByRole('heading', { name: 'Keys' }).waitFor();
  await pages.accessible(inbox, 'keys');
  await inbox.keyboard.press('Escape');

  // The list: filters that the address keeps, and a new run that appears by itself.
  await page.goto(pages.address('/#/runs'));
  await live(page);
  await page.locator(`[data-run="${fourth}"]`).getByText('cancelled').waitFor();
  await page.getByLabel('Status').selectOption('COMPLETED');
  await page.waitForURL((url) => url.hash.includes('status=COMPLETED'), { timeout });
  await page.locator(`[data-run="${fourth}"]`).waitFor({ state: 'detached' });
  await page.locator(`[data-run="${first}"]`).waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  const fifth = await begin({
    program: NAME,
    text: 'module shop\n\npub func net (gross: i64) -> (i64) pure {\n  return (div_s.i64 gross, 2)\n}\n',
    message: says('A function more'),
  });
  await page.locator(`[data-run="${fifth}"]`).getByText('waiting').waitFor();
  await page.getByText('7 runs', { exact: true }).waitFor();
  await pages.accessible(page, 'runs');

  // The palette leads to a run, and to the inbox.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /^Find functions/ }).waitFor();
  await page.keyboard.type(first);
  await page.getByRole('option', { name: /review/ }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.hash.includes(encodeURIComponent(first)), { timeout });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /^Find functions/ }).waitFor();
  await page.keyboard.type('approvals');
  await page.getByRole('option', { name: 'Go to approvals' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Approvals' }).waitFor();

  // Narrow: nothing is wider than the page, and a question stands in the place of the list.
  const narrow = await pages.page('/#/runs', { viewport: { width: 390, height: 844 } });
  const views = ['runs', 'runs/new?flow=review', `runs/${encodeURIComponent(first)}`, `runs/${encodeURIComponent(fifth)}?density=detailed`, 'approvals', 'approvals?status=ANSWERED'];
  for (const view of views) {
    await narrow.goto(pages.address(`/#/${view}`));
    await narrow.getByRole('heading', { level: 1 }).first().waitFor();
    await settled(narrow);
    await fits(narrow, view);
    await pages.accessible(narrow, `narrow-${view.replaceAll(/\W+/g, '-')}`);
  }
  await narrow.goto(pages.address('/#/approvals'));
  const [last] = await questions(fifth);
  await row(narrow, last).click();
  await narrow.locator('.question').waitFor();
  assert.equal(await row(narrow, last).count(), 0);
  await fits(narrow, 'question');
  await pages.accessible(narrow, 'narrow-question');
  // The keys work where the question has taken the place of the list, too.
  await narrow.keyboard.press('?');
  await dialog(narrow).getByRole('heading', { name: 'Keys' }).waitFor();
  await narrow.keyboard.press('Escape');
  await narrow.getByRole('button', { name: 'All questions' }).click();
  await row(narrow, last).waitFor();

  pages.finish();
  console.log('runs are started, followed, answered, cancelled and found; by keyboard, light and dark, wide and narrow');
} finally {
  await pages.close();
}
