// The pictures of docs/dashboard.md, taken of the sample programs on a fresh server: `node pictures.mjs SERVER FOLDER`.
import assert from 'node:assert/strict';
import { join } from 'node:path';

import { post } from './http.mjs';
import { DRAWING, Pages, settled } from './pages.mjs';

const [server, folder] = process.argv.slice(2);
assert.ok(server && folder, 'node pictures.mjs SERVER FOLDER');

async function ask(query, input, [name, kind] = ['planner', 'AGENT']) {
  const answer = await post(server, query, { input }, { 'lmlang-author': name, 'lmlang-author-kind': kind });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return Object.values(answer.data)[0];
}

/** The text of a function of the bank without refs, with something else in it. */
async function reworded(path, from, to) {
  const query = 'query ($name: String!) { program(name: "bank") { function(name: $name) { text(detail: SUMMARY) } } }';
  const { data } = await post(server, query, { name: path });
  const text = data.program.function.text;
  assert.ok(text.includes(from), text);
  return text.replace(from, to);
}

const EDIT = `mutation ($input: ProposeEditInput!) {
  proposeEdit(input: $input) { outcome { __typename ... on EditApplied { revision { number } } } }
}`;
async function edit(author, message, edits, branch) {
  const input = {
    programId: 'bank',
    message,
    edits,
    ...(branch && { branch }),
  };
  const { outcome } = await ask(EDIT, input, author);
  assert.equal(outcome.__typename, 'EditApplied', JSON.stringify(outcome));
  return outcome.revision.number;
}

const ADA = ['ada', 'HUMAN'];
const TURN = 'mutation ($input: TurnInput!) { turn(input: $input) { session { id } run { id status } } }';
const BRANCH = 'mutation ($input: CreateBranchInput!) { createBranch(input: $input) { branch { name } } }';
const RUN = 'mutation ($input: StartRunInput!) { startRun(input: $input) { run { id } } }';

// Some work of several authors on the bank, and a branch that asks to be merged.
const FEE = `pub func fee (amount: i64) -> (i64) pure {
  require "the amount is not negative" = ge_s.i64 amount, 0
  part = div_s.i64 amount, 100
  return part
}
`;
await edit(['planner', 'AGENT'], 'A fee of one per cent', [{ addText: { module: 'bank', text: FEE } }]);
await ask('mutation ($input: CreateCheckpointInput!) { createCheckpoint(input: $input) { checkpoint { name } } }', {
  programId: 'bank',
  name: 'with-fees',
});
const halved = await reworded('bank::fee', 'amount, 100', 'amount, 200');
await edit(ADA, 'Half of it is enough', [{ replaceFunctionText: { ref: 'bank::fee', text: halved } }]);
await ask('mutation ($input: AddCaseInput!) { addCase(input: $input) { case { status } } }', {
  programId: 'bank',
  function: 'bank::fee',
  name: 'a thousand costs five',
  args: [1000],
  expected: [5],
});
await ask(BRANCH, { programId: 'bank', name: 'least-fee' });
const LEAST = `pub func fee (amount: i64) -> (i64) pure {
  require "the amount is not negative" = ge_s.i64 amount, 0
  part = div_s.i64 amount, 200
  due = if (lt_s.i64 part, 5) -> (i64) { yield 5 } else { yield part }
  return due
}
`;
await edit(
  ['coder', 'AGENT'],
  'Five at least',
  [{ replaceFunctionText: { ref: 'bank::fee', text: LEAST } }],
  'least-fee',
);
const last = await edit(ADA, 'What it is for', [
  { setDoc: { ref: 'bank::fee', doc: 'What a transfer costs, in cents.' } },
]);
const { run } = await ask(RUN, {
  flow: 'review',
  input: {
    program: 'bank',
    branch: 'least-fee',
    message: 'A fee of five at least',
  },
});
const { session } = await ask(TURN, { workflow: 'act', text: 'AddEdge Ticket:T-1 DEPENDS_ON Milestone:M-1' }, ADA);
for (const text of [
  'AddNode Ticket:T-2 {"weight": 3}',
  'MATCH (t:Ticket) RETURN t.key, t.weight',
  'DeleteNode Ticket:T-2',
])
  await ask(TURN, { sessionId: session.id, text }, ADA);

const pages = await Pages.open(server, 'pictures', DRAWING);
async function open(address, shown) {
  const page = await pages.page(address, { reducedMotion: 'reduce' });
  await page.locator(shown).first().waitFor();
  await settled(page);
  return page;
}
async function picture(page, name) {
  await settled(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.context().close();
}

try {
  await picture(await open('/#/p/bank/f/bank::withdraw', '.box'), 'function');
  await picture(await open('/#/p/sha256/map', '.map-canvas, canvas'), 'map');
  await picture(await open(`/#/p/bank/history?sel=r${last}`, '[data-live="connected"]'), 'history');
  await picture(await open(`/#/p/bank/history?sel=r2,r${last}&diff=graph`, '.box'), 'difference');
  const verification = await open('/#/p/bank/verify', '[data-live="connected"]');
  await verification.getByRole('tab', { name: 'Cases' }).click();
  await picture(verification, 'verification');
  await picture(await open('/#/p/bank/edits', '[data-live="connected"]'), 'edits');
  await picture(await open(`/#/sessions/${session.id}`, '.talk-turn >> nth=3'), 'conversation');
  await picture(await open(`/#/runs/${run.id}`, '[data-live="connected"]'), 'flow');
  const inbox = await open('/#/approvals', '.inbox-row');
  await inbox.locator('.inbox-row', { hasText: 'review' }).first().click();
  await inbox.locator('.question').waitFor();
  await picture(inbox, 'approvals');

  const editor = await open('/#/p/bank/f/bank::fee/edit', 'textarea');
  const text = editor.getByRole('textbox', { name: 'Text of bank::fee' });
  await text.fill((await text.inputValue()).replace('amount, 200', 'amount, 150'));
  await editor.locator('[data-tried="EditApplied"]').waitFor();
  await picture(editor, 'editing');

  const player = await open('/#/p/life/f/life::r_pentomino/run', 'main form');
  await player.getByLabel('generations i32').fill('4');
  await player.getByRole('button', { name: 'Start' }).click();
  await player.locator('.player[data-acting="false"] .box.here').waitFor();
  await player.locator('.player').focus();
  await player.keyboard.press('g');
  await player.keyboard.type('2000');
  await player.keyboard.press('Enter');
  await player.locator('.player[data-acting="false"][data-position="2000"] .box.here').waitFor();
  await picture(player, 'run');
  pages.finish();
} finally {
  await pages.close();
}
