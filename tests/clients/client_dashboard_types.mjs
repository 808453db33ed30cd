// The page of a type in Chromium: from the list of types, the search, a signature, the feed and a difference to what it
// consists of, what holds of its values and who uses it; it follows what an agent changes, keeps an old revision still, and
// says what is not there any more.
import assert from 'node:assert/strict';

import { post } from './http.mjs';
import { fits, Pages, settled, tabTo, timeout } from './pages.mjs';

const server = process.argv[2];
const NAME = `typed-${process.pid}`;
const TEXT = `module shop

; A thing that can be bought.
pub type Item = struct {
  ; What it is called.
  name: string,
  price: i64,
}

; How far an order is.
pub type Progress = enum { open, paid(i64), sent(parts::Part) }
pub type Order = struct { items: array<Item>, progress: Progress }
pub type Percent = struct { of: i32 }
type Spare = struct { }

global mut rate: i64 = 10

func percent (value: Percent) -> () pure {
  invariant "a percentage is at least 0" = ge_s.i32 (struct.get Percent.of value), 0
  return
}

; What an item costs less a discount.
pub func cost (item: Item, off: Percent) -> (i64) {
  require "there is a price" = gt_s.i64 (struct.get Item.price item), 0
  price = struct.get Item.price item
  return (mul.i64 price, (global.get rate))
}

pub func cheap (name: string) -> (Item) pure {
  return (struct.new Item name, 3)
}

module parts
pub type Part = struct { number: i64 }
`;

async function data(query, variables, author = 'planner') {
  const answer = await post(server, query, variables, { 'lmlang-author': author, 'lmlang-author-kind': 'AGENT' });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

const { createProgram } = await data(
  `mutation ($input: CreateProgramInput!) {
    createProgram(input: $input) {
      program { types { nodes { ref name fields { ref name } } } functions { nodes { ref name text contracts { ref } } } }
      errors { message line }
    }
  }`,
  { input: { name: NAME, text: TEXT } },
);
assert.deepEqual(createProgram.errors, []);
const types = Object.fromEntries(createProgram.program.types.nodes.map((type) => [type.name, type]));
const cost = createProgram.program.functions.nodes.find(({ name }) => name === 'cost');
const { Item, Percent, Spare } = types;
const price = Item.fields.find(({ name }) => name === 'price');

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

const pages = await Pages.open(server, 'types');
const hash = (page, part) => page.waitForURL((url) => decodeURIComponent(url.hash).includes(part), { timeout });
const panel = (page, name) => page.getByRole('region', { name, exact: true });

try {
  // From the list of types, by keyboard.
  const page = await pages.page(`/#/p/${NAME}`);
  const listed = panel(page, 'Types').getByRole('link', { name: /shop::Percent/ });
  await tabTo(page, listed);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'shop::Percent' }).waitFor();
  await panel(page, 'Definition').getByText('type Percent = struct { of: i32 }').waitFor();
  const invariants = panel(page, 'Invariants');
  await invariants.getByText('a percentage is at least 0').waitFor();
  await invariants.getByText('ge_s.i32 (struct.get Percent.of value), 0').waitFor();
  await invariants.getByRole('link', { name: 'shop::percent' }).waitFor();
  await panel(page, 'Functions').getByRole('listitem').filter({ hasText: 'shop::cost' }).getByText('takes').waitFor();
  await panel(page, 'Types that contain it').getByText('No other type contains it.').waitFor();
  await panel(page, 'Origin').getByText('planner').waitFor();
  await page.locator('[data-live="connected"]').waitFor();
  await pages.accessible(page, 'type');

  // From the search, to a field: who makes it, and who reads it.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('shop::Item.price');
  await page.getByRole('option', { name: /shop::Item\.price/ }).waitFor();
  await page.keyboard.press('Enter');
  await hash(page, `member=${price.ref}`);
  await page.getByRole('heading', { name: 'shop::Item' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'price', exact: true }).getAttribute('aria-pressed'), 'true');
  const uses = page.getByRole('region', { name: /Nodes that use/ });
  await uses.getByRole('link', { name: /^struct\.new Item/ }).waitFor();
  await uses.getByRole('tab', { name: 'Made and changed' }).focus();
  await page.keyboard.press('ArrowRight');
  await uses.getByRole('link', { name: /price = struct\.get Item\.price/ }).waitFor();
  await panel(page, 'Types that contain it').getByRole('link', { name: 'shop::Order' }).waitFor();
  await pages.accessible(page, 'type-field');

  // What an agent changes shows; a name that it gives goes into the address. An old revision stays as it was.
  await page.goto(pages.address(`/#/p/${NAME}/t/shop::Item`));
  await panel(page, 'Fields').getByRole('button', { name: 'price', exact: true }).waitFor();
  await page.locator('[data-live="connected"]').waitFor();
  const before = await edit([{ setDoc: { ref: 'shop::Item', doc: 'Something to buy.' } }], 'Clearer', {
    author: 'ann',
  });
  await page.getByText('Something to buy.').first().waitFor();
  await panel(page, 'Origin').getByText('“Clearer”').waitFor();
  const named = await edit([{ renameType: { ref: 'shop::Item', name: 'Ware' } }], 'Another name', { author: 'ann' });
  await hash(page, '/t/shop::Ware');
  await page.getByRole('heading', { name: 'shop::Ware' }).waitFor();
  await page
    .getByRole('link', { name: `r${named}`, exact: true })
    .first()
    .click();
  await page.getByText('changes do not show').waitFor();
  await page.goto(pages.address(`/#/p/${NAME}/t/${Item.ref}?rev=1`));
  await page.getByRole('heading', { name: 'shop::Item' }).waitFor();
  await page.getByText('read-only').waitFor();
  await page.getByText('A thing that can be bought.').first().waitFor();
  await pages.accessible(page, 'type-old');
  await page.getByRole('link', { name: 'Go to the head' }).click();
  await page.getByRole('heading', { name: 'shop::Ware' }).waitFor();

  // What is gone under an open page stays, and says so; what was never there has ways out.
  await page.goto(pages.address(`/#/p/${NAME}/t/${Spare.ref}`));
  await page.getByText('It has no fields').waitFor();
  await page.locator('[data-live="connected"]').waitFor();
  await edit([{ removeType: { ref: 'shop::Spare' } }], 'Not needed');
  await page.getByText('does not have this type any more').waitFor();
  await pages.accessible(page, 'type-gone');
  await page.goto(pages.address(`/#/p/${NAME}/t/t9999?rev=1`));
  await page.getByRole('alert').getByText('NOT_FOUND').waitFor();
  for (const name of ['Look at the head', 'Every change of t9999', `All of ${NAME}`])
    await page.getByRole('link', { name }).waitFor();
  await pages.accessible(page, 'type-missing');
  await page.goto(pages.address(`/#/p/${NAME}/t/${cost.ref}`));
  await page.getByRole('link', { name: `The function ${cost.ref}` }).click();
  await page.getByRole('heading', { name: 'shop::cost' }).waitFor();

  // From a signature, the feed, and a difference.
  await page.goto(pages.address(`/#/p/${NAME}/f/shop::cost`));
  await page.locator('.signature').getByRole('link', { name: 'Percent' }).click();
  await page.getByRole('heading', { name: 'shop::Percent' }).waitFor();
  await page.goto(pages.address(`/#/p/${NAME}/edits`));
  await page
    .locator(`[data-revision="${before}"]`)
    .getByRole('link', { name: /shop::/ })
    .click();
  await page.getByRole('heading', { name: /shop::(Item|Ware)/ }).waitFor();
  await page.goto(pages.address(`/#/p/${NAME}/history?sel=r${before}`));
  await page.getByRole('link', { name: `before r1 of shop::Item` }).click();
  await page.getByText('A thing that can be bought.').first().waitFor();

  // Narrow.
  const narrow = await pages.page(`/#/p/${NAME}/t/${Percent.ref}`, { viewport: { width: 390, height: 844 } });
  await narrow.getByRole('heading', { name: 'shop::Percent' }).waitFor();
  await settled(narrow);
  await fits(narrow, 'type');
  const wider = await narrow.locator('.type-definition pre').evaluate((text) => text.scrollWidth - text.clientWidth);
  assert.equal(wider, 0, 'no line of the definition is cut');
  await pages.accessible(narrow, 'narrow-type');
  await narrow.context().close();

  pages.finish();
  console.log('a type is told with what it consists of, what holds of it and who uses it, live and as it was');
} finally {
  await pages.close();
}
