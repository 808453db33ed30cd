// How long people wait for the dashboard, for `cargo xtask bench pages`: prints a line of JSON for each time that something
// was measured, `{"name": …, "ms": …}`. The server is given; it has nothing yet.
import assert from 'node:assert/strict';

import { post } from './http.mjs';
import { Pages, settled, timeout } from './pages.mjs';

const [server, rounds] = [process.argv[2], Number(process.argv[3])];
const NAME = 'measured';

/** A function of so many nodes and some more. */
function chain(name, nodes) {
  const steps = Math.round(nodes / 2);
  return [
    `pub func ${name} (x: i64) -> (i64) pure {`,
    '  v_0 = add.i64 x, 1',
    ...Array.from(
      { length: steps },
      (_, at) => `  v_${at + 1} = xor.i64 (mul.i64 v_${at}, ${at}), v_${Math.max(0, at - 7)}`,
    ),
    `  return v_${steps}`,
    '}',
    '',
  ].join('\n');
}
const total = (fee) =>
  `pub func total (price: i64) -> (i64) pure {\n  cost = add.i64 price, ${fee}\n  return cost\n}\n`;

async function ask(query, input) {
  const answer = await post(server, query, { input });
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

async function edit(fee) {
  const { proposeEdit } = await ask(
    'mutation ($input: ProposeEditInput!) { proposeEdit(input: $input) { outcome { __typename } } }',
    {
      programId: NAME,
      edits: [{ replaceFunctionText: { ref: 'shop::total', text: total(fee) } }],
    },
  );
  assert.equal(proposeEdit.outcome.__typename, 'EditApplied');
}

/** Measures how long some work takes. */
async function measured(name, work) {
  const start = performance.now();
  const result = await work();
  console.log(JSON.stringify({ name, ms: performance.now() - start }));
  return result;
}

const { createProgram } = await ask(
  'mutation ($input: CreateProgramInput!) { createProgram(input: $input) { errors { message line } } }',
  {
    name: NAME,
    text: `module shop\n\n${total(0)}\n${chain('small', 20)}\n${chain('large', 5_000)}`,
  },
);
assert.deepEqual(createProgram.errors, []);

const pages = await Pages.open(server, 'measured');
/** A page with nothing in its cache, once it shows all that it has. */
async function open(address, shown) {
  const page = await pages.page(address, { reducedMotion: 'reduce' });
  await page.locator(shown).first().waitFor();
  await settled(page);
  return page;
}
const close = (page) => page.context().close();

try {
  // What a server does once is not what people wait for.
  await close(await open(`/#/p/${NAME}/f/shop::small`, '.box'));
  let fee = 0;
  for (let round = 0; round < rounds; round += 1) {
    await close(await measured('the programs, nothing cached', () => open('/', 'main h1')));
    await close(await measured('a function of 20 nodes', () => open(`/#/p/${NAME}/f/shop::small`, '.box')));
    const large = await measured('a function of 5,000 nodes', () => open(`/#/p/${NAME}/f/shop::large`, '.box'));
    await large.getByRole('application', { name: 'Graph of shop::large' }).focus();
    await large.keyboard.press('End');
    await large.locator('.box.selected').waitFor();
    await measured('from node to node among 5,000', async () => {
      const before = large.url();
      await large.keyboard.press('ArrowUp');
      await large.waitForURL((url) => url.href !== before, { timeout });
      const [, ref] = /node=(\w+)/.exec(large.url());
      await large.locator(`.box.selected[data-ref="${ref}"]`).waitFor();
    });
    await close(large);

    const view = await open(`/#/p/${NAME}/f/shop::total`, '.box');
    const feed = await open(`/#/p/${NAME}/edits`, '[data-live="connected"]');
    await view.locator('[data-live="connected"]').waitFor();
    fee += 1;
    await measured('an edit of a client, in the text and the feed of two open pages', async () => {
      const shown = view.locator('.text-line', {
        hasText: new RegExp(`price, ${fee}$`),
      });
      await Promise.all([edit(fee), shown.waitFor(), feed.locator(`[data-revision="${fee + 1}"]`).waitFor()]);
    });
    await close(feed);
    await view.goto(pages.address(`/#/p/${NAME}/f/shop::large/run`));
    await view.getByLabel('x i64').fill('3');
    await view.getByRole('button', { name: 'Start' }).click();
    await view.locator('.player[data-acting="false"] .box.here').waitFor();
    await settled(view);
    await view.locator('.player').focus();
    await measured('a step of a run', async () => {
      await view.keyboard.press('s');
      await view.locator('.player[data-acting="false"][data-position="1"]').waitFor();
    });
    await close(view);
  }
  pages.finish();
} finally {
  await pages.browser.close();
}
