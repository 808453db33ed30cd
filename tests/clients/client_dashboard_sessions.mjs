// Conversations with a flow, in Chromium: one is begun with a command, a question is answered with a table, a deletion is
// asked about and agreed to, another one is refused in words; somebody else goes on with it meanwhile; by keyboard, light
// and dark, wide and narrow; and what each turn did stands on the page of its run.
import assert from 'node:assert/strict';

import { post } from './http.mjs';
import { fits, Pages, settled, tabTo, timeout } from './pages.mjs';

const server = process.argv[2];
// Entities are shared by all who use the server.
const LABEL = `Ticket${process.pid}`;

async function data(query, variables) {
  const answer = await post(server, query, variables, { 'lmlang-author': 'carol', 'lmlang-author-kind': 'AGENT' });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

const TURN = 'mutation ($input: TurnInput!) { turn(input: $input) { session { id } run { id status } } }';
const say = async (input) => (await data(TURN, { input })).turn;

const pages = await Pages.open(server, 'sessions');
const box = (page) => page.getByRole('form', { name: 'Say something' }).getByRole('textbox');
const turn = (page, at) => page.locator('.talk-turn').nth(at);
const live = (page) => page.locator('[data-live="connected"]').waitFor();

/** Says something by keyboard, from wherever the focus was left: it stays in the box. */
async function says(page, words) {
  await page.waitForFunction(() => document.activeElement?.matches('.talk-composer textarea'), null, { timeout });
  await page.keyboard.type(words);
  await page.keyboard.press('Enter');
}

try {
  // A page without conversations leads to the form; with some, the list has a way there.
  const page = await pages.page('/#/sessions');
  await page.getByRole('heading', { name: 'Conversations', level: 1 }).waitFor();
  await live(page);
  await settled(page);
  await pages.accessible(page, 'sessions-before');
  await tabTo(page, page.getByRole('link', { name: 'New conversation' }));
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.hash === '#/sessions/new', { timeout });
  const form = page.getByRole('form', { name: 'New conversation' });
  await form.getByLabel('With').waitFor();
  // Flows that words alone begin are offered, and no others.
  assert.deepEqual(await form.getByLabel('With').locator('option').allTextContents(), ['act', 'draft', 'edit']);
  assert.equal(await form.getByLabel('With').inputValue(), 'act');
  await form.getByRole('button', { name: 'Begin' }).click();
  await form.getByText('Write what is to be done.').waitFor();
  await pages.accessible(page, 'begin');

  // Without a model commands are understood. Enter sends.
  await form.getByLabel('What is to be done').fill(`AddEdge ${LABEL}:T-1 DEPENDS_ON Milestone:M-${process.pid}`);
  await form.getByLabel('What is to be done').press('Enter');
  await page.waitForURL((url) => /#\/sessions\/T-/.test(url.hash), { timeout });
  const session = decodeURIComponent(new URL(page.url()).hash.split('/').at(-1));
  await live(page);
  await turn(page, 0).getByText('Entities: 3 created.', { exact: true }).waitFor();
  await turn(page, 0).locator('[data-counts]').getByText('3 created').waitFor();
  // What was said, what was planned and what was done for it.
  await turn(page, 0).locator('[data-from="user"]').getByText(/^AddEdge/).waitFor();
  if (!(await turn(page, 0).locator('.talk-work').evaluate((element) => element.open)))
    await turn(page, 0).locator('.talk-work summary').click();
  assert.equal(await turn(page, 0).getByRole('list', { name: 'Plan' }).getByRole('listitem').count(), 3);
  assert.equal(await turn(page, 0).getByRole('list', { name: 'Done' }).getByRole('listitem').count(), 3);
  // Where it had to be opened, the focus went with the click.
  await box(page).focus();
  await pages.accessible(page, 'created');

  // Shift-Enter is a new line; what is found is a table.
  await says(page, `MATCH (t:${LABEL}) RETURN t.key`);
  const table = turn(page, 1).getByRole('table');
  await table.getByRole('columnheader', { name: 't.key' }).waitFor();
  await table.getByRole('cell', { name: 'T-1' }).waitFor();
  await pages.accessible(page, 'table');
  await says(page, `Show ${LABEL}:T-1`);
  await turn(page, 2).getByRole('list', { name: 'Entities' }).getByText(`${LABEL}:T-1`).waitFor();
  await turn(page, 2).getByRole('list', { name: 'Relations' }).getByText('DEPENDS_ON').waitFor();

  // Before something is deleted the flow asks; words are a no that says what should be different.
  await says(page, `DeleteNode ${LABEL}:T-1`);
  await turn(page, 3).locator('[data-from="agent"]').getByText(/delete_node/).waitFor();
  await page.getByRole('button', { name: 'Yes' }).waitFor();
  await pages.accessible(page, 'asked');
  await says(page, 'not that one');
  await turn(page, 3).getByText('No: not that one').waitFor();
  await turn(page, 3).getByText(/What is to be done instead/).waitFor();
  await pages.accessible(page, 'clarify');
  await page.keyboard.type(`DeleteNode ${LABEL}:T-1`);
  await page.keyboard.press('Shift+Enter');
  assert.match(await box(page).inputValue(), /\n$/, 'Shift-Enter is a new line');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Yes' }).waitFor();

  // The question is also found among the approvals, with a way back to the conversation.
  const inbox = await pages.page('/#/approvals');
  await inbox.locator('.inbox-row').filter({ hasText: LABEL }).click();
  await inbox.locator('.question').getByRole('link', { name: 'conversation' }).waitFor();
  await inbox.close();

  // Yes, by keyboard: the button is one step before the box.
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Shift+Tab');
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('Yes'), null, { timeout });
  await page.keyboard.press('Enter');
  await turn(page, 3).getByText('Yes', { exact: true }).waitFor();
  await turn(page, 3).locator('[data-counts]').getByText('2 deleted').waitFor();
  await turn(page, 3).getByText('Entities: 2 deleted.').waitFor();
  await pages.accessible(page, 'deleted');
  await says(page, `MATCH (t:${LABEL}) RETURN t.key`);
  await turn(page, 4).getByText('No row of t.key.').waitFor();

  // Nothing is not sent.
  await says(page, '   ');
  await page.locator('.talk-hint').getByText('write what is to be done').waitFor();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');

  // Somebody else goes on with it: the page follows.
  const other = await say({ sessionId: session, text: `AddNode ${LABEL}:T-2 {"weight": 3}` });
  await turn(page, 5).getByText('Entities: 1 created.').waitFor();
  await turn(page, 5).locator('[data-from="user"]').getByText('carol').waitFor();

  // A connection that is lost comes back, with what happened meanwhile.
  let cut = false;
  const sockets = new Set();
  const lost = await pages.page('about:blank');
  await lost.context().routeWebSocket(/\/graphql\/ws$/, (socket) => {
    if (cut) return socket.close({ code: 1012 });
    sockets.add(socket);
    socket.connectToServer();
  });
  await lost.goto(pages.address(`/#/sessions/${encodeURIComponent(session)}`));
  await live(lost);
  cut = true;
  for (const socket of sockets) socket.close({ code: 1012 });
  await lost.locator('.talk-hint').getByText(/^The connection is lost/).waitFor();
  await say({ sessionId: session, text: `Show ${LABEL}:T-2` });
  await pages.accessible(lost, 'reconnecting');
  cut = false;
  await turn(lost, 6).getByRole('list', { name: 'Entities' }).getByText(/weight: 3/).waitFor();
  await turn(page, 6).getByRole('list', { name: 'Entities' }).getByText(/weight: 3/).waitFor();
  await lost.close();

  // What fails again and again is put to a person: choices are buttons, with words beside them.
  await says(page, `UpdateProps ${LABEL}:none {"a": 1}`);
  const choices = page.getByRole('group', { name: 'Choices' });
  await choices.getByRole('button', { name: 'stop' }).waitFor();
  await pages.accessible(page, 'escalation');
  const second = await pages.page('/#/approvals');
  await second.locator('.inbox-row').filter({ hasText: LABEL }).click();
  await second.locator('.question').getByRole('button', { name: /^do it differently/ }).click();
  const way = second.getByRole('form', { name: /^Choose/ });
  await way.getByLabel(/^How, in words/).fill('not today');
  await pages.accessible(second, 'approval-choice');
  await way.getByRole('button', { name: 'Not yet' }).click();
  await second.close();
  await says(page, 'not today');
  await page.locator('.talk-hint').getByText(/^take one of the choices/).waitFor();
  await choices.getByRole('button', { name: 'stop' }).click();
  await turn(page, 7).getByText('stop: not today').waitFor();
  await turn(page, 7).locator('[data-counts]').getByText('stopped').waitFor();
  await turn(page, 7).locator('.talk-work').getByText(/failure/).first().waitFor();

  // Whoever may only look sees all of it, and why nothing can be said.
  const looks = await pages.page('about:blank');
  await looks.route('**/graphql', async (route) => {
    if (!route.request().postData()?.includes('query Caller')) return route.continue();
    const response = await route.fetch();
    const body = await response.json();
    body.data.caller.scopes = ['READ'];
    return route.fulfill({ response, json: body });
  });
  await looks.goto(pages.address(`/#/sessions/${encodeURIComponent(session)}`));
  await turn(looks, 7).waitFor();
  await looks.locator('.talk-hint').getByText(/lacks the scope EDIT/).waitFor();
  assert.ok(await box(looks).isDisabled());
  await pages.accessible(looks, 'looks');
  await looks.close();

  // Each turn leads to its run, which says who decided and what was called, and back.
  await turn(page, 0).getByRole('link', { name: /^run/ }).click();
  await page.waitForURL((url) => /#\/runs\/R-/.test(url.hash), { timeout });
  await page.locator('.run-facts').getByText(/decisions by rules, no model/).waitFor();
  await page.getByRole('button', { name: 'detailed', exact: true }).click();
  await page.getByText('decided by rules, no model').first().waitFor();
  const call = page.locator('.step[data-node="call_tool"]').first();
  await call.locator('.span summary').first().click();
  await call.getByRole('group', { name: 'Arguments of add_node' }).getByText('"T-1"').waitFor();
  await call.locator('.span-facts').getByText(/1 created/).first().waitFor();
  await page.locator('.step[data-node="plan_step"]').first().locator('[data-fact="attempt"]').waitFor();
  await pages.accessible(page, 'run');
  await page.locator('.run-facts').getByRole('link', { name: /^AddEdge/ }).click();
  await turn(page, 7).waitFor();

  // In the list of runs each turn is told by its own words; what is typed and not sent is there again.
  await box(page).fill('half a thought');
  await page.getByRole('link', { name: 'its runs' }).click();
  const listed = (words) => page.locator('.run-row').getByText(words).first().waitFor();
  await Promise.all([listed(`MATCH (t:${LABEL}) RETURN t.key`), listed(`AddNode ${LABEL}:T-2 {"weight": 3}`)]);
  await page.goBack();
  await turn(page, 7).waitFor();
  assert.equal(await box(page).inputValue(), 'half a thought');
  await box(page).fill('');

  // What is refused stands in the box again, with the reason and its code: a task has fewer steps.
  const refused = await pages.page('/#/sessions/new?flow=act');
  const much = `Show ${LABEL}:T-1; `.repeat(1_001);
  await refused.getByLabel('What is to be done').fill(much);
  await refused.getByRole('button', { name: 'Begin' }).click();
  await refused.getByText('BAD_REQUEST').waitFor();
  assert.equal((await box(refused).inputValue()).trim(), much.trim());
  // The title is what was said, as far as a title goes: the page shows as much of it as it has room for.
  assert.equal(await refused.getByRole('heading', { level: 1 }).getAttribute('title'), `${much.slice(0, 1_000)}…`);
  await refused.setViewportSize({ width: 390, height: 844 });
  await fits(refused, 'a long title');
  await pages.accessible(refused, 'refused');
  await refused.close();

  // A change of a program: it is named first; what the review asks is asked here, with a way to the difference.
  const program = `talked-${process.pid}`;
  await post(
    server,
    'mutation ($input: CreateProgramInput!) { createProgram(input: $input) { errors { message } } }',
    { input: { name: program, text: 'module calc\n\npub func twice (n: i64) -> (i64) pure {\n  return (mul.i64 n, 2)\n}\n' } },
  );
  const changing = await pages.page('/#/sessions/new?flow=edit');
  const asking = changing.getByRole('form', { name: 'New conversation' });
  const thrice = 'pub func thrice (n: i64) -> (i64) pure {\n  return (mul.i64 n, 3)\n}';
  await asking.getByLabel('What is to be done').fill(thrice);
  await asking.getByRole('button', { name: 'Begin' }).click();
  await asking.getByText('Say which program it is about.').waitFor();
  await pages.accessible(changing, 'begin-edit');
  await asking.getByLabel('Program').fill(program);
  await asking.getByRole('button', { name: 'Begin' }).click();
  await turn(changing, 0).getByText(/It changes 1 function/).waitFor();
  await pages.accessible(changing, 'edit-asked');
  await turn(changing, 0).getByRole('link', { name: 'What it is about' }).click();
  await changing.getByRole('region', { name: 'What approving would change' }).getByText('calc::thrice').first().waitFor();
  await changing.goBack();
  await changing.getByRole('button', { name: 'Yes' }).click();
  await turn(changing, 0).getByText(/^merged as r\d+$/).last().waitFor();
  await pages.accessible(changing, 'edit-merged');
  await changing.close();

  // What is not here says so.
  const missing = await pages.page('/#/sessions/T-00000000-0000-4000-8000-000000000000');
  await missing.getByText('NOT_FOUND').waitFor();
  await missing.close();

  // The list follows, too; the newest stands first.
  await page.goto(pages.address('/#/sessions'));
  await live(page);
  await page.locator(`[data-session="${session}"]`).getByText(/^AddEdge/).waitFor();
  const { session: later } = await say({ text: `AddNode ${LABEL}:T-3` });
  await page.locator(`[data-session="${later.id}"]`).waitFor();
  assert.equal(await page.locator('.talks li').first().locator('a').getAttribute('data-session'), later.id);
  await pages.accessible(page, 'sessions');

  // A conversation of many turns begins with the newest; earlier ones are a button away, and nothing jumps.
  for (let at = 0; at < 12; at += 1) await say({ sessionId: later.id, text: `Show ${LABEL}:T-3` });
  await page.goto(pages.address(`/#/sessions/${encodeURIComponent(later.id)}`));
  await page.getByRole('button', { name: /^Show earlier: 10 of 13 runs/ }).click();
  await page.locator('.talk-turn').nth(12).waitFor();
  await page.getByRole('button', { name: /^Show earlier/ }).waitFor({ state: 'detached' });
  await turn(page, 0).getByText('Entities: 1 created.').waitFor();

  // Narrow: nothing is wider than the page, and the box is in view.
  const narrow = await pages.page('/#/sessions', { viewport: { width: 390, height: 844 } });
  for (const view of ['sessions', 'sessions/new', `sessions/${encodeURIComponent(session)}`]) {
    await narrow.goto(pages.address(`/#/${view}`));
    await narrow.getByRole('heading', { level: 1 }).first().waitFor();
    await settled(narrow);
    await fits(narrow, view);
    await pages.accessible(narrow, `narrow-${view.replaceAll(/\W+/g, '-')}`);
  }
  await turn(narrow, 7).waitFor();
  assert.ok(await box(narrow).evaluate((element) => element.getBoundingClientRect().bottom <= window.innerHeight));
  await narrow.goto(pages.address(`/#/runs/${encodeURIComponent(other.run.id)}?density=detailed`));
  await narrow.getByText('decided by rules, no model').first().waitFor();
  await fits(narrow, 'run');

  pages.finish();
  console.log('conversations are begun, gone on with, asked, answered and followed; by keyboard, light and dark, wide and narrow');
} finally {
  await pages.close();
}
