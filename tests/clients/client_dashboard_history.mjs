// The way back, and whether a program is right, in Chromium: undo by keyboard after a preview, the difference of any two
// revisions, what goes and stays of a revert, a merge whose conflict is settled by a side, a preview that is stale, names;
// a repair of a finding tried and done, inputs that break a contract, test cases; and the palette that leads to all of it.
import assert from 'node:assert/strict';

import { post } from './http.mjs';
import { fits, Pages, settled, tabTo, timeout } from './pages.mjs';

const server = process.argv[2];
const NAME = `way-back-${process.pid}`;
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

pub func share (sum: i64, people: i64) -> (i64) pure {
  ensure "nobody pays less than nothing" (r) = ge_s.i64 r, 0
  each = div_s.i64 sum, people
  return each
}
`;

async function data(query, variables, author = 'planner') {
  const answer = await post(server, query, variables, { 'lmlang-author': author, 'lmlang-author-kind': 'AGENT' });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

const { createProgram } = await data(
  `mutation ($input: CreateProgramInput!) {
    createProgram(input: $input) { program { functions { nodes { name ref text } } } errors { message line } }
  }`,
  { input: { name: NAME, text: TEXT } },
);
assert.deepEqual(createProgram.errors, []);
const total = createProgram.program.functions.nodes.find(({ name }) => name === 'total');
const withFee = (fee) => total.text.replace(/#\w+/g, '').replace('sum, 5', `sum, ${fee}`);

/** Changes the program as an agent does; returns the number of the revision. */
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

async function head() {
  const { program } = await data('query ($name: String!) { program(name: $name) { revision { number } } }', { name: NAME });
  return program.revision.number;
}

const addNet = {
  addText: { module: 'shop', text: 'pub func net (gross: i64) -> (i64) pure {\n  return (div_s.i64 gross, 2)\n}\n' },
};
const addTwice = {
  addText: { module: 'shop', text: 'pub func twice (n: i64) -> (i64) pure {\n  t = call net(n)\n  return (add.i64 t, t)\n}\n' },
};
const branchAt = 1;
await data('mutation ($input: CreateBranchInput!) { createBranch(input: $input) { branch { name } } }', {
  input: { programId: NAME, name: 'fees', at: `r${branchAt}` },
});
await data('mutation ($input: CreateBranchInput!) { createBranch(input: $input) { branch { name } } }', {
  input: { programId: NAME, name: 'reworked', at: `r${branchAt}` },
});
const reworkedTotal = total.text
  .replace(/#\w+/g, '')
  .replace('cheap = lt_s.i64 sum, 100', 'less = sub.i64 sum, price\n  cheap = lt_s.i64 less, 90')
  .replace('yield (add.i64 sum, 5)', 'yield sum');
const reworked = await edit([{ replaceFunctionText: { ref: 'shop::total', text: reworkedTotal } }], 'Reworked', { branch: 'reworked' });
const theirs = await edit([{ replaceFunctionText: { ref: 'shop::total', text: withFee(7) } }], 'A higher fee', { branch: 'fees' });
const net = await edit([addNet], 'Net prices', { author: 'bob' });
const ours = await edit([{ replaceFunctionText: { ref: 'shop::total', text: withFee(4) } }], 'A lower fee', { author: 'bob' });
const twice = await edit([addTwice], 'Twice the net price');

const pages = await Pages.open(server, 'way-back');
const dialog = (page) => page.getByRole('dialog');
const row = (page, number) => page.locator(`[data-revision="${number}"]`);

try {
  const page = await pages.page(`/#/p/${NAME}/history`);
  await row(page, twice).getByText('Twice the net price').first().waitFor();
  await row(page, twice).locator('.badge', { hasText: 'main' }).waitFor();
  await row(page, theirs).locator('.badge', { hasText: 'fees' }).waitFor();
  await page.locator('[data-live="connected"]').waitFor();
  await pages.accessible(page, 'history');
  const other = await pages.page(`/#/p/${NAME}/history`);
  await other.locator('[data-live="connected"]').waitFor();
  await row(other, twice).waitFor();

  // Undo, by keyboard: what would go is shown, and nothing is done before it is told so.
  await tabTo(page, page.getByRole('button', { name: 'Undo…' }));
  await page.keyboard.press('Enter');
  await dialog(page).getByRole('heading', { name: 'Undo the last change' }).waitFor();
  await dialog(page).getByText('shop::twice').first().waitFor();
  await dialog(page).getByText('removed', { exact: true }).first().waitFor();
  await dialog(page).getByText('Nothing new.').first().waitFor();
  assert.equal(await head(), twice, 'a preview changes nothing');
  await pages.accessible(page, 'undo');
  await page.keyboard.type('Not wanted');
  await page.keyboard.press('Enter');
  await dialog(page).waitFor({ state: 'detached' });
  const undone = await head();
  assert.ok(undone > twice);
  for (const each of [page, other]) {
    await row(each, undone).getByText('Not wanted').first().waitFor();
    await row(each, undone).getByText('human').first().waitFor();
    await row(each, twice).getByText('undone', { exact: true }).first().waitFor();
  }
  await page.getByRole('button', { name: 'Undo…' }).evaluate((button) => button === document.activeElement || button.focus());

  // And forward again.
  await tabTo(page, page.getByRole('button', { name: 'Redo…' }));
  await page.keyboard.press('Enter');
  await dialog(page).getByText('added', { exact: true }).first().waitFor();

  // What would come of it is a graph as well, though no revision has it; Escape there lets go of a node first.
  await dialog(page).getByRole('tab', { name: 'Graph' }).click();
  const foreseen = dialog(page).getByRole('application', { name: 'Graph of the difference of shop::twice' });
  await dialog(page).getByText('The function is new').waitFor();
  await foreseen.getByRole('group', { name: /^added, t = call net, / }).waitFor();
  await pages.accessible(page, 'redo-graph');
  await tabTo(page, foreseen);
  await page.keyboard.press('n');
  await dialog(page).getByRole('region', { name: /^Node n\d+$/ }).waitFor();
  await page.keyboard.press('Escape');
  await dialog(page).getByRole('region', { name: /^Node n\d+$/ }).waitFor({ state: 'detached' });
  await dialog(page).getByLabel('Why, for the log').focus();
  await page.keyboard.press('Enter');
  await dialog(page).waitFor({ state: 'detached' });
  const redone = await head();
  await row(other, redone).getByText('redo', { exact: true }).first().waitFor();

  // Two revisions, by their boxes: what differs in structure and as text, with ways to the function as it was and is.
  await row(page, ours).getByRole('link').focus();
  await page.keyboard.press('ArrowDown');
  assert.ok(await row(page, net).getByRole('link').evaluate((link) => link === document.activeElement));
  await page.keyboard.press('ArrowUp');
  await row(page, net).getByRole('checkbox').focus();
  await page.keyboard.press('Space');
  await page.waitForURL((url) => url.hash.includes(`sel=r${net}`), { timeout });
  await row(page, redone).getByRole('checkbox').focus();
  await page.keyboard.press('Space');
  await page.getByRole('heading', { name: `r${net} compared with r${redone}` }).waitFor();
  const side = page.getByRole('region', { name: 'What is selected' });
  await side.getByText('5 → 4').first().waitFor();
  await side.getByText('shop::twice').first().waitFor();
  await pages.accessible(page, 'difference');
  await side.getByRole('tab', { name: 'Structure' }).focus();
  await page.keyboard.press('ArrowRight');
  await side.locator('.unified-line.removed', { hasText: 'sum, 5' }).waitFor();
  await side.locator('.unified-line.added', { hasText: 'sum, 4' }).waitFor();
  await pages.accessible(page, 'difference-text');
  await page.keyboard.press('ArrowLeft');
  await side.getByRole('link', { name: `before r${net} of shop::total` }).click();
  await page.getByText('read-only').first().waitFor();
  await page.waitForURL((url) => url.hash.includes(`rev=${net}`), { timeout });
  await page.goBack();
  await page.getByRole('heading', { name: `r${net} compared with r${redone}` }).waitFor();

  // As a graph, by the address: what is new, gone and changed in one picture, each by its name; keys lead from one to the next.
  await page.goto(pages.address(`/#/p/${NAME}/history?sel=r1,r${reworked}&diff=graph`));
  const graph = page.getByRole('application', { name: 'Graph of the difference of shop::total' });
  await graph.waitFor();
  await page.getByRole('button', { name: 'Show everything' }).click();
  for (const name of [
    /^added, less = sub\.i64, gives i64, n\d+$/,
    /^removed, add\.i64, gives i64, n\d+$/,
    /^removed, constant 5, /,
    /^changed, value was 100 and is 90, constant 90, /,
    /^changed, input a was sum n\d+ and is less n\d+, cheap = lt_s\.i64, /,
    /^sum = mul\.i64, /,
  ])
    await graph.getByRole('group', { name }).waitFor();
  await graph.locator('.line.is-removed').first().waitFor({ state: 'attached' });
  await graph.locator('.line.is-added').first().waitFor({ state: 'attached' });
  const legend = side.getByRole('list', { name: 'Legend' });
  await legend.getByText('removed', { exact: true }).first().waitFor();
  await legend.getByText('2 nodes', { exact: true }).first().waitFor();
  await pages.accessible(page, 'difference-graph');
  await tabTo(page, graph);
  await page.keyboard.press('n');
  await page.waitForURL((url) => /node=n\d+/.test(url.hash), { timeout });
  const details = side.getByRole('region', { name: /^Node n\d+$/ });
  await details.getByText('less = sub.i64').waitFor();
  await details.getByText('added', { exact: true }).waitFor();
  await page.keyboard.press('p');
  await details.getByText('changed', { exact: true }).first().waitFor();
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  const differing = side.getByRole('list', { name: 'Nodes that differ in shop::total' });
  await differing.getByRole('button', { name: /removed add\.i64/ }).click();
  await details.getByText('removed', { exact: true }).first().waitFor();
  // What is on one side only is new, or gone, as a whole.
  await page.goto(pages.address(`/#/p/${NAME}/history?sel=r${net},r${redone}&diff=graph`));
  await side.getByRole('combobox', { name: 'Function' }).selectOption({ label: 'shop::twice (added)' });
  await side.getByText('The function is new').waitFor();
  await page.waitForURL((url) => /fn=f\d+/.test(url.hash), { timeout });
  await page.goto(pages.address(`/#/p/${NAME}/history?sel=r${twice},r${undone}&diff=graph`));
  await side.getByText('The function is gone').waitFor();
  await page.getByRole('group', { name: /^removed, t = call net, / }).waitFor();
  await side.getByRole('tab', { name: 'Graph' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForURL((url) => !url.hash.includes('diff='), { timeout });

  // A revert says what must go too, and what stays.
  await row(page, net).getByRole('link').click();
  await page.getByRole('button', { name: 'Take back…' }).click();
  await dialog(page).getByRole('region', { name: 'Goes', exact: true }).getByText('Net prices').first().waitFor();
  await dialog(page).getByRole('region', { name: 'Must go with it' }).getByText('Twice the net price').first().waitFor();
  await dialog(page).getByRole('region', { name: 'Stays' }).getByText('A lower fee').first().waitFor();
  await pages.accessible(page, 'revert');

  // What is stale is said before, not after.
  const late = await edit([{ setDoc: { ref: 'shop::share', doc: 'What each pays.' } }], 'A doc meanwhile');
  await dialog(page).getByText('The branch has moved').first().waitFor();
  assert.ok(await dialog(page).getByRole('button', { name: 'Take back', exact: true }).isDisabled());
  await dialog(page).getByRole('button', { name: 'Preview again' }).click();
  await dialog(page).getByRole('region', { name: 'Stays' }).getByText('A doc meanwhile').first().waitFor();
  await dialog(page).getByText('The branch has moved').first().waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  assert.equal(await head(), late);

  // A name for a revision; one that is taken is told so before it is sent.
  await page.getByRole('button', { name: 'Checkpoint…' }).click();
  await dialog(page).getByLabel('Name').fill('fees');
  await dialog(page).getByText('has this name already').first().waitFor();
  assert.ok(await dialog(page).getByRole('button', { name: 'Create the checkpoint' }).isDisabled());
  await dialog(page).getByLabel('Name').fill('net-only');
  await pages.accessible(page, 'checkpoint');
  await page.keyboard.press('Enter');
  await row(page, net).locator('.badge', { hasText: 'net-only' }).waitFor();
  await page.getByRole('button', { name: 'Branch…' }).click();
  await dialog(page).getByLabel('Name').fill('aside');
  await page.keyboard.press('Enter');
  await row(page, net).locator('.badge', { hasText: 'aside' }).waitFor();

  // Back to it, and from there to a revision that is not on the line.
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: /^Restore… ?net-only$/ }).click();
  await dialog(page).getByText('4 → 5').first().waitFor();
  await dialog(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
  await row(page, await head()).getByText('restore', { exact: true }).first().waitFor();
  await row(page, ours).getByText('undone', { exact: true }).first().waitFor();
  await row(page, ours).getByRole('link').click();
  await page.getByRole('button', { name: 'Restore…' }).click();
  await dialog(page).getByText('5 → 4').first().waitFor();
  await dialog(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
  await row(page, ours).getByText('undone', { exact: true }).first().waitFor({ state: 'detached' });
  await page.goto(pages.address(`/#/p/${NAME}/history?branch=aside&sel=r${theirs}`));
  await page.getByRole('button', { name: 'Restore…' }).click();
  await dialog(page).getByText('is not on the line of aside').first().waitFor();
  await dialog(page).getByText('5 → 7').first().waitFor();
  await dialog(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
  await page.locator('.revision', { hasText: 'Restored' }).locator('.badge', { hasText: 'aside' }).waitFor();
  await page.goto(pages.address(`/#/p/${NAME}/history`));
  await row(page, ours).waitFor();

  // What both sides changed is shown as it was and as each has it; a side settles it.
  await page.getByRole('button', { name: /^Merge into main… ?fees$/ }).click();
  const conflicts = dialog(page).getByRole('list', { name: 'Conflicts' });
  for (const [what, text] of [['base', 'const.i64 5'], ['ours', 'const.i64 4'], ['theirs', 'const.i64 7']])
    await conflicts.locator('.sides > div', { hasText: what }).getByText(text).first().waitFor();
  await pages.accessible(page, 'conflict');
  await conflicts.getByRole('radio', { name: 'write it' }).check();
  const own = conflicts.getByRole('textbox', { name: /shop::total/ });
  await own.waitFor();
  await own.fill((await own.inputValue()).replace('sum, 4', 'sum, 9'));
  await pages.accessible(page, 'conflict-own');
  // Whoever leaves finds their answers again.
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /^Merge into main… ?fees$/ }).click();
  await own.waitFor();
  assert.match(await own.inputValue(), /sum, 9/);
  assert.ok(await conflicts.getByRole('radio', { name: 'write it' }).isChecked());
  await dialog(page).getByRole('button', { name: 'Preview again' }).click();
  await dialog(page).getByText('4 → 9').first().waitFor();
  await dialog(page).getByRole('button', { name: 'Settle otherwise' }).click();
  await conflicts.getByText('answered').waitFor();
  await conflicts.getByRole('radio', { name: 'take theirs' }).check();
  await dialog(page).getByRole('button', { name: 'Preview again' }).click();
  await dialog(page).getByText('4 → 7').first().waitFor();
  await dialog(page).getByRole('button', { name: 'Merge', exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
  const merged = await head();
  await row(page, merged).getByText('merge', { exact: true }).first().waitFor();
  await row(other, merged).waitFor();
  await other.context().close();

  // Two of one name stay by another name.
  const helper = (more) => ({ addText: { module: 'shop', text: `func helper () -> (i64) {\n  return ${more}\n}\n` } });
  await data('mutation ($input: CreateBranchInput!) { createBranch(input: $input) { branch { name } } }', {
    input: { programId: NAME, name: 'helpers' },
  });
  await edit([helper(2)], 'Their helper', { branch: 'helpers' });
  await edit([helper(1)], 'Our helper', { author: 'carol' });
  await tabTo(page, page.getByRole('button', { name: 'Delete the branch helpers…' }));
  await page.keyboard.press('Enter');
  await dialog(page).getByText('in conflict with it').waitFor();
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /^Merge into main… ?helpers$/ }).click();
  for (const [side, body] of [['ours', 'return 1'], ['theirs', 'return 2']])
    await conflicts.locator('.sides > div', { hasText: side }).getByText(body).waitFor();
  await conflicts.getByRole('radio', { name: 'other names' }).check();
  await conflicts.getByRole('textbox', { name: /^theirs/ }).fill('helper_two');
  await pages.accessible(page, 'conflict-names');
  await page.keyboard.press('Enter');
  await dialog(page).getByText('shop::helper_two').first().waitFor();
  await dialog(page).getByRole('button', { name: 'Merge', exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
  await row(page, await head()).getByText('merge', { exact: true }).first().waitFor();

  // What a merge alone would bring is called in its graph as it would be called.
  const priced = 'type Price = struct { cents: i64 }\n\npub func cents (of: Price) -> (i64) pure {\n  return (struct.get Price.cents of)\n}\n';
  await data('mutation ($input: CreateBranchInput!) { createBranch(input: $input) { branch { name } } }', {
    input: { programId: NAME, name: 'priced' },
  });
  // What somebody else names is there by itself, and what they take away is not.
  await page.getByRole('button', { name: 'Delete the branch priced…' }).waitFor();
  await edit([{ addText: { module: 'shop', text: priced } }], 'A price', { branch: 'priced' });
  await page.getByRole('button', { name: /^Merge into main… ?priced$/ }).click();
  await dialog(page).getByRole('button', { name: 'graph of shop::cents' }).click();
  await dialog(page)
    .getByRole('application', { name: 'Graph of the difference of shop::cents' })
    .getByRole('group', { name: /^added, struct\.get Price\.cents, / })
    .waitFor();
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await dialog(page).waitFor({ state: 'detached' });

  // What was done on another branch is taken back there, and nowhere else.
  const standing = await head();
  await row(page, reworked).getByRole('link').click();
  await page.getByRole('button', { name: 'Take back on reworked…' }).click();
  await dialog(page).getByText('On the branch reworked').waitFor();
  await dialog(page).getByRole('region', { name: 'Goes', exact: true }).getByText('Reworked').waitFor();
  await dialog(page).getByRole('button', { name: 'Take back', exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
  const taken = page.locator('.revision', { hasText: 'on reworked' }).filter({ hasText: 'revert' });
  await taken.waitFor();
  assert.equal(await head(), standing, 'main stays where it is');
  await page.getByRole('button', { name: 'Close' }).click();

  // A branch goes: what is lost and what stays is said before; then a checkpoint.
  await page.getByRole('button', { name: 'Delete the branch helpers…' }).click();
  await dialog(page).getByText('Stays:').waitFor();
  await dialog(page).getByText('main has all that was done on it').waitFor();
  await pages.accessible(page, 'delete-branch');
  await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByText('Deleted the branch helpers.').waitFor();
  await page.getByRole('button', { name: 'Delete the branch helpers…' }).waitFor({ state: 'detached' });
  // Somebody else was faster: the refusal is told by its code.
  await page.getByRole('button', { name: 'Delete the branch aside…' }).click();
  await data('mutation ($input: DeleteBranchInput!) { deleteBranch(input: $input) { deleted } }', {
    input: { programId: NAME, name: 'aside' },
  });
  await page
    .getByRole('button', { name: 'Delete the branch aside…', includeHidden: true })
    .waitFor({ state: 'detached' });
  await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog(page).getByText('NOT_FOUND').waitFor();
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete the checkpoint net-only…' }).click();
  await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Deleted the checkpoint net-only.').waitFor();
  await row(page, net).locator('.badge', { hasText: 'net-only' }).waitFor({ state: 'detached' });

  // All by one author is taken back together, after a plan.
  await page.getByRole('combobox', { name: 'Author' }).fill('carol');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Take back all by carol…' }).click();
  await dialog(page).getByRole('region', { name: 'Goes', exact: true }).getByText('Our helper').waitFor();
  await dialog(page).getByRole('button', { name: 'Take back', exact: true }).click();
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Clear' }).click();
  await row(page, await head()).getByText('revert', { exact: true }).first().waitFor();

  // Filters: by author, by branch, by entity; none is like this.
  await page.getByRole('combobox', { name: 'Author' }).fill('bob');
  await page.keyboard.press('Enter');
  await row(page, twice).waitFor({ state: 'detached' });
  await row(page, net).waitFor();
  await page.getByRole('textbox', { name: 'Touching an entity, by ref or path' }).fill('shop::total');
  await page.keyboard.press('Enter');
  await row(page, net).waitFor({ state: 'detached' });
  await row(page, ours).waitFor();
  await page.getByRole('combobox', { name: 'Author' }).fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('No revision is like this').first().waitFor();
  await pages.accessible(page, 'none');
  await page.getByRole('button', { name: 'Show all revisions' }).click();
  await page.getByRole('combobox', { name: 'Branch' }).selectOption('fees');
  await row(page, merged).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo on fees…' }).waitFor();

  // A finding is repaired, by keyboard: first its preview.
  await page.goto(pages.address(`/#/p/${NAME}/verify`));
  await page.getByText('input b of sub is empty').first().waitFor();
  await page.locator('[data-live="connected"]').waitFor();
  await pages.accessible(page, 'verification');
  await tabTo(page, page.getByRole('button', { name: 'What EMPTY_INPUT means' }));
  await page.keyboard.press('Enter');
  await page.getByText('an input without a source').first().waitFor();
  await pages.accessible(page, 'code');
  await page.keyboard.press('Escape');
  await page.getByText('an input without a source').first().waitFor({ state: 'detached' });
  const before = await head();
  await tabTo(page, page.getByRole('button', { name: /^Repairs/ }).first());
  await page.keyboard.press('Enter');
  // It says what it is about as the text does.
  const repair = page.getByRole('button', { name: /^connect input 1 of sub\.i64 in line 4 to due/ });
  await tabTo(page, repair);
  await page.keyboard.press('Enter');
  await dialog(page).locator('.unified-line.added', { hasText: 'paid, due' }).waitFor();
  await dialog(page).getByText('Nothing new.').first().waitFor();
  assert.equal(await head(), before, 'a preview changes nothing');
  await pages.accessible(page, 'repair');
  await page.keyboard.press('Enter');
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByText('input b of sub is empty').first().waitFor({ state: 'detached' });
  await page.getByText('The verifier finds nothing').first().waitFor();
  await page.getByText('complete', { exact: true }).first().waitFor();
  assert.ok((await head()) > before);

  // What an agent breaks shows as it happens, and leads to its node.
  await edit(
    [{ addText: { module: 'shop', text: 'func odd (n: i64) -> (i64) {\n  unused = mul.i64 n, 3\n  return (add.i64 n, _)\n}\n' } }],
    'Half done',
  );
  await page.getByText('nobody uses the value of mul').first().waitFor();
  await page.locator('.finding-row', { hasText: 'UNUSED_VALUE' }).getByText('new', { exact: true }).first().waitFor();
  await page.locator('.delta', { hasText: '2 new' }).waitFor();
  await page.getByRole('combobox', { name: 'Code' }).selectOption('UNUSED_VALUE');
  await page.locator('.finding-row', { hasText: 'EMPTY_INPUT' }).waitFor({ state: 'detached' });
  await page.getByTitle('Show it in the function').click();
  await page.getByRole('heading', { name: 'shop::odd' }).waitFor();
  await page.waitForURL((url) => url.hash.includes('node=n'), { timeout });

  // Inputs that break a contract are looked for, and kept as a test case.
  await page.goto(pages.address(`/#/p/${NAME}/verify?tab=contracts`));
  await page.getByText('nobody pays less than nothing').first().waitFor();
  await page.getByRole('button', { name: 'Check 2 functions' }).click();
  await page.getByText('Done: 2 functions, 1 broken.').first().waitFor();
  await page.getByText('broken', { exact: true }).first().waitFor();
  await page.getByText('held', { exact: true }).first().waitFor();
  await pages.accessible(page, 'contracts');
  await page.getByRole('button', { name: 'Keep as a test case' }).click();
  await page.getByText(/kept as the case “breaks on/).first().waitFor();
  // What breaks it can be gone through step by step.
  await page.getByRole('button', { name: /^Step through/ }).click();
  await page.getByText(/^with .* from a counterexample$/).waitFor();
  await page.locator('.player[data-acting="false"] .box.here').waitFor();
  await pages.accessible(page, 'counterexample');
  await page.goBack();
  await page.getByText('nobody pays less than nothing').first().waitFor();
  await page.getByRole('spinbutton', { name: 'inputs for each' }).fill('1000000');
  await page.getByRole('spinbutton', { name: 'seconds for all' }).fill('60');
  await page.getByRole('checkbox', { name: 'Check shop::share' }).uncheck();
  await page.getByRole('button', { name: 'Check 1 function' }).click();
  await page.getByText('searching').first().waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Cancelled.').first().waitFor();
  await page.getByRole('tab', { name: 'Contracts' }).focus();
  await page.keyboard.press('ArrowRight');
  const test = page.locator('[data-case^="breaks on"]');
  await test.getByText('red', { exact: true }).first().waitFor();
  await pages.accessible(page, 'cases');
  await test.getByRole('button', { name: /^Remove the case/ }).click();
  await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByText('The program has no test cases yet').first().waitFor();
  await pages.accessible(page, 'no-cases');

  // A case that somebody broke says since when, and by whom.
  const three = { programId: NAME, function: 'total', name: 'ten apples', args: [2, 10], expected: [27] };
  await data('mutation ($input: AddCaseInput!) { addCase(input: $input) { case { status } } }', { input: three });
  await page.getByRole('tab', { name: 'Contracts' }).click();
  await page.getByRole('tab', { name: 'Cases' }).click();
  const apples = page.locator('[data-case="ten apples"]');
  await apples.getByText('green', { exact: true }).waitFor();
  const breaking = await edit([{ replaceFunctionText: { ref: 'shop::total', text: withFee(1) } }], 'Nearly free', { author: 'bob' });
  await apples.getByText('red', { exact: true }).waitFor();
  await apples.getByRole('button', { name: 'Find what broke it' }).click();
  await apples.getByText('broken by').waitFor();
  await apples.getByText('Nearly free').waitFor();
  await pages.accessible(page, 'broken');
  await apples.locator('.blame').getByRole('link', { name: `r${breaking}` }).click();
  await page.getByRole('heading', { name: `r${breaking}`, exact: true }).waitFor();
  await page.goto(pages.address(`/#/p/${NAME}/history?sel=r1`));
  await page.getByText('The first revision').waitFor();
  await pages.accessible(page, 'first');

  // The palette leads to a node, to a revision and to commands; what is typed while it is on its way is for it.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('cheap');
  const box = page.getByRole('combobox', { name: /^Find functions/ });
  await page.getByRole('option', { name: /cheap.* = lt_s/ }).waitFor();
  await pages.accessible(page, 'palette');
  for (let at = 0; at < 20; at += 1) {
    const option = page.locator('[role="option"][aria-selected="true"]');
    if (/cheap.* = lt_s/.test(await option.textContent())) break;
    await page.keyboard.press('ArrowDown');
  }
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'shop::total' }).waitFor();
  await page.waitForURL((url) => url.hash.includes('node=n'), { timeout });
  await page.keyboard.press('Control+k');
  await box.waitFor();
  await page.keyboard.type(`r${net}`);
  await page.getByRole('option', { name: `r${net} revision` }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: `r${net}`, exact: true }).waitFor();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByRole('button', { name: 'Find' }).click();
  await page.keyboard.type('dark col');
  await page.getByRole('option', { name: 'Use dark colours' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark', null, { timeout });

  // Narrow: nothing is wider than the page; what is selected stands in the place of the timeline.
  const narrow = await pages.page(`/#/p/${NAME}/history`, { viewport: { width: 390, height: 844 } });
  for (const view of ['history', `history?sel=r${ours}`, `history?sel=r${net},r${ours}`, `history?sel=r1,r${reworked}&diff=graph`, 'verify', 'verify?tab=contracts', 'verify?tab=cases']) {
    await narrow.goto(pages.address(`/#/p/${NAME}/${view}`));
    await narrow.getByRole('heading', { level: 1 }).waitFor();
    await settled(narrow);
    await fits(narrow, view);
    await pages.accessible(narrow, `narrow-${view.replaceAll(/\W+/g, '-')}`);
  }
  await narrow.goto(pages.address(`/#/p/${NAME}/history?sel=r${ours}`));
  await narrow.getByRole('button', { name: 'Take back…' }).waitFor();
  assert.ok(!(await row(narrow, ours).isVisible()));
  await narrow.getByRole('button', { name: 'Close' }).click();
  await row(narrow, ours).waitFor();

  pages.finish();
  console.log('history goes back and forth with a preview, verification repairs, the palette finds; by keyboard, light and dark');
} finally {
  await pages.close();
}
