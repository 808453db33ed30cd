// Differences and merges in their words, in Chromium: what changed within a line is marked and no line is cut; contracts and
// globals that collide say where they are and what each side has, and are settled by texts of their own; where there is
// nothing to do there is nothing to say about it. The search tells contracts by their functions and what they demand. And a
// program without anything in it leads on.
import assert from 'node:assert/strict';

import { post } from './http.mjs';
import { fits, Pages, settled, timeout } from './pages.mjs';

const server = process.argv[2];
const NAME = `worded-${process.pid}`;
const TEXT = `module shop

global mut rate: i64 = 10

; What things cost together.
pub func cost (price: i64, count: i64) -> (i64) {
  require "there is a price" = gt_s.i64 price, 0
  return (mul.i64 (mul.i64 price, count), (global.get rate))
}
`;

async function data(query, variables, author = 'planner') {
  const answer = await post(server, query, variables, { 'lmlang-author': author, 'lmlang-author-kind': 'AGENT' });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

const { createProgram } = await data(
  `mutation ($input: CreateProgramInput!) {
    createProgram(input: $input) { program { functions { nodes { text } } } errors { message line } }
  }`,
  { input: { name: NAME, text: TEXT } },
);
assert.deepEqual(createProgram.errors, []);
const { text } = createProgram.program.functions.nodes[0];

async function edit(edits, message, { author = 'planner', branch = 'main' } = {}) {
  const { proposeEdit } = await data(
    `mutation ($input: ProposeEditInput!) {
      proposeEdit(input: $input) { outcome { __typename ... on EditApplied { revision { number } } } }
    }`,
    { input: { programId: NAME, edits, message, branch } },
    author,
  );
  assert.equal(proposeEdit.outcome.__typename, 'EditApplied', JSON.stringify(proposeEdit));
  return proposeEdit.outcome.revision.number;
}

const pages = await Pages.open(server, 'words');

try {
  // A contract is found by its words, told by its function and what it demands, and leads to that.
  const page = await pages.page(`/#/p/${NAME}`);
  await page.getByRole('heading', { name: NAME }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('there is a price');
  const contract = page.getByRole('option', { name: /shop::cost require “there is a price” gt_s\.i64/ });
  await contract.waitFor();
  await pages.accessible(page, 'contract-found');
  await contract.click();
  await page.getByRole('heading', { name: 'shop::cost' }).waitFor();
  await page.waitForURL((url) => url.hash.includes('node=n'), { timeout });

  // Where contracts are listed, each stands with what it demands.
  await page.goto(pages.address(`/#/p/${NAME}/verify`));
  await page.getByRole('tab', { name: 'Contracts' }).click();
  const listed = page.locator('.contract-list li', { hasText: 'there is a price' });
  await listed.locator('code', { hasText: 'gt_s.i64 price, 0' }).waitFor();

  // Of a line that changed, what changed in it is marked.
  const contractText = 'require "the price is more than nothing" = gt_s.i64 price, 0';
  await data('mutation ($input: CreateBranchInput!) { createBranch(input: $input) { branch { name } } }', {
    input: { programId: NAME, name: 'fees', at: 'main' },
  });
  const changed = async (words, rate, options) => {
    const written = text.replace('there is a price', words);
    assert.notEqual(written, text);
    const global = { ref: 'shop::rate', text: `global mut rate: i64 = ${rate}` };
    return await edit(
      [{ replaceFunctionText: { ref: 'shop::cost', text: written } }, { replaceStorage: global }],
      words,
      options,
    );
  };
  const ours = await changed('there is a good price', 20, { author: 'ann' });
  await changed('there is a bad price', 30, { author: 'bob', branch: 'fees' });
  await page.goto(pages.address(`/#/p/${NAME}/history?sel=r${ours}&diff=text`));
  await page.locator('.unified-line.added ins', { hasText: /^good$/ }).waitFor();
  await page.locator('.unified-line.removed del', { hasText: '10' }).waitFor();
  await settled(page);
  await pages.accessible(page, 'words');
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page, 'a difference as text');
  const cut = await page
    .locator('.unified-line')
    .evaluateAll((lines) => lines.filter((line) => line.scrollWidth > line.clientWidth).length);
  assert.equal(cut, 0, 'no line is cut at the right');
  await page.setViewportSize({ width: 1280, height: 800 });

  // A contract and a global that collide: where they are, what each side has, and a text of one's own for either.
  await page.goto(pages.address(`/#/p/${NAME}/history?branch=main`));
  await page.getByRole('button', { name: 'Merge into main…' }).click();
  const dialog = page.getByRole('dialog');
  const conflicts = dialog.getByRole('list', { name: 'Conflicts' });
  const about = (place) => conflicts.locator('li.conflict').filter({ hasText: place });
  const held = about('global shop::rate');
  await held.locator('.sides > div', { hasText: 'ours' }).locator('ins', { hasText: '20' }).waitFor();
  await held.locator('.sides > div', { hasText: 'theirs' }).locator('ins', { hasText: '30' }).waitFor();
  const demanded = about('contract in shop::cost');
  await demanded.locator('.sides > div', { hasText: 'ours' }).locator('ins', { hasText: 'good' }).waitFor();
  await pages.accessible(page, 'conflict-contract');
  await held.getByRole('radio', { name: 'write it' }).check();
  await held.getByRole('textbox').fill('global mut rate: i64 = 25');
  await demanded.getByRole('radio', { name: 'write it' }).check();
  await demanded.getByRole('textbox').fill(contractText);
  await dialog.getByRole('button', { name: 'Preview again' }).click();
  await dialog.getByText('shop::rate').first().waitFor();
  await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const merged = await data('query ($name: String!) { program(name: $name) { text(detail: SUMMARY) } }', {
    name: NAME,
  });
  assert.match(merged.program.text, /rate: i64 = 25/);
  assert.match(merged.program.text, /the price is more than nothing/);

  // Where there is nothing to do there is nothing to say about it.
  await page.getByRole('button', { name: 'Redo…' }).click();
  await dialog.getByText('There is nothing to do').waitFor();
  assert.equal(await dialog.getByRole('textbox').count(), 0);
  assert.deepEqual(await dialog.getByRole('button').allTextContents(), ['Close']);
  assert.ok(await dialog.getByRole('button').evaluate((button) => button === document.activeElement));
  await pages.accessible(page, 'nothing');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });

  // A program without anything leads on: to an agent, and to a text that is tried while it is written.
  const empty = `${NAME}-empty`;
  await data('mutation ($input: CreateProgramInput!) { createProgram(input: $input) { errors { message } } }', {
    input: { name: empty },
  });
  await page.goto(pages.address(`/#/p/${empty}`));
  await page.getByText('The program has no functions yet').waitFor();
  await settled(page);
  await pages.accessible(page, 'empty');
  await page.getByRole('link', { name: 'Ask an agent' }).click();
  await page.getByRole('form', { name: 'New conversation' }).waitFor();
  assert.equal(await page.getByLabel('Program', { exact: true }).inputValue(), empty);
  await page.goBack();
  await page.getByRole('link', { name: 'Write or load functions' }).click();
  await page.getByRole('button', { name: 'Begin with this' }).click();
  const written = page.getByRole('textbox', { name: 'Functions and types' });
  await page.locator('[data-tried="EditApplied"]').waitFor();
  await pages.accessible(page, 'add');
  await written.fill('pub func twice (x: i64) -> (i64) pure {\n  return (mul.i64 x, y)\n}\n');
  await page.getByText('there is no value y here').waitFor();
  // A file stands in the place of what was written.
  const mimeType = 'text/plain';
  const buffer = Buffer.from('pub func thrice (x: i64) -> (i64) pure {\n  return (mul.i64 x, 3)\n}\n');
  await page.getByLabel('Load a file…').setInputFiles({ name: 'thrice.lm', mimeType, buffer });
  await page.locator('[data-tried="EditApplied"]').waitFor();
  // Whoever leaves and comes back finds it.
  await page.getByRole('link', { name: 'Map' }).click();
  await page.getByText('The program has no functions yet').waitFor();
  await page.goBack();
  assert.match(await written.inputValue(), /thrice/);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('heading', { name: /thrice/ }).waitFor();
  await page.locator('.box').first().waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(pages.address(`/#/p/${empty}/add`));
  await page.getByRole('heading', { name: 'Add functions and types' }).waitFor();
  await settled(page);
  await fits(page, 'what is added');
  await pages.accessible(page, 'narrow-add');

  pages.finish();
  console.log('differences, conflicts and contracts are told in their words');
} finally {
  await pages.close();
}
