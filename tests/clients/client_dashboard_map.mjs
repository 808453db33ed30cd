// The map of a program in Chromium, drawn by a graphics card that is only simulated: a picture and a table of the same,
// both led through by hand, the table by keyboard too. An edit over HTTP appears in both; where nothing can be drawn the
// table stands alone; nothing that axe finds, light and dark, wide and narrow.
import assert from 'node:assert/strict';

import { post } from './http.mjs';
import { DRAWING, Pages, fits } from './pages.mjs';

const server = process.argv[2];
const NAME = `mapped-${process.pid}`;
const TEXT = `module goods

pub func price (count: i64) -> (i64) pure {
  return (mul.i64 count, 3)
}

pub func weight (count: i64) -> (i64) pure {
  return (mul.i64 count, _)
}

module shop

pub func order (count: i64) -> (i64) {
  cost = call goods::price(count)
  load = call goods::weight(count)
  return (add.i64 cost, load)
}
`;

async function data(query, variables) {
  const answer = await post(server, query, variables);
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
}

const { createProgram } = await data(
  `mutation ($input: CreateProgramInput!) {
    createProgram(input: $input) {
      program { functions { nodes { name ref } } modules { nodes { path ref } } }
      errors { message line }
    }
  }`,
  { input: { name: NAME, text: TEXT } },
);
assert.deepEqual(createProgram.errors, []);
const { functions, modules } = createProgram.program;
const refs = Object.fromEntries([
  ...functions.nodes.map(({ name, ref }) => [name, ref]),
  ...modules.nodes.map(({ path, ref }) => [path, ref]),
]);

const pages = await Pages.open(server, 'map', DRAWING);
const accessible = (page, view) => pages.accessible(page, view);

async function open(options, prepare) {
  const page = await pages.page(`/#/p/${NAME}/map`, { reducedMotion: 'reduce', ...options }, prepare);
  await page.locator('[data-live="connected"]').waitFor();
  return page;
}

const draws = (page, marks) => page.locator(`[data-marks="${marks}"]`).waitFor();

/** Looks in the page for a place where the picture points at a mark: from row to row of the middle, where it lies. */
async function placeOf([ref, step]) {
  const canvas = document.querySelector('.sigma-mouse');
  const { left, top, width, height } = canvas.getBoundingClientRect();
  for (let y = top + height / 4; y < top + (3 * height) / 4; y += step)
    for (let x = left + step; x < left + width; x += step) {
      canvas.dispatchEvent(new MouseEvent('mousemove', { clientX: x, clientY: y, bubbles: true }));
      // What is pointed at is told after what the page has to do at once.
      await new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = resolve;
        port2.postMessage(null);
      });
      if (document.querySelector(`[data-pointed="${ref}"]`)) return { x, y };
    }
  return null;
}

/** Clicks a mark of the picture. */
async function click(page, ref) {
  const place = await page.evaluate(placeOf, [ref, 8]);
  assert.ok(place, `the picture has a mark of ${ref}`);
  await page.mouse.move(place.x, place.y);
  await page.locator(`[data-pointed="${ref}"]`).waitFor();
  await page.mouse.down();
  await page.mouse.up();
}

/** Presses Tab until the focus is at something with a name. */
async function tabTo(page, name) {
  const matches = (name) => {
    const { activeElement: at } = document;
    return (at?.getAttribute('aria-label') ?? at?.textContent ?? '') === name;
  };
  for (let at = 0; at < 60; at += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(matches, name)) return;
  }
  assert.fail(`the keyboard reaches ${name}`);
}

try {
  const page = await open();
  await page.getByRole('img', { name: '3 functions, 2 modules, 2 calls' }).waitFor();
  await draws(page, 3);
  await page.getByRole('row', { name: /weight incomplete/ }).waitFor();
  await page.getByRole('button', { name: 'goods 2 functions 1 incomplete' }).waitFor();
  await accessible(page, 'map');

  // By keyboard: who calls a function, and the way to it. What is looked for is found.
  await tabTo(page, 'Calls of goods::price');
  await page.keyboard.press('Enter');
  await page.getByText('Called by shop::order').waitFor();
  await page.locator(`[data-pointed="${refs.price}"]`).waitFor();
  await accessible(page, 'calls');
  await page.getByRole('searchbox').fill('ORD');
  await page.getByRole('link', { name: 'price' }).waitFor({ state: 'detached' });
  await page.getByText('1 function found').waitFor();
  await accessible(page, 'search');
  await tabTo(page, 'order');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'shop::order' }).waitFor();
  await page.goBack();
  await draws(page, 3);

  // A module closes and opens, from the table and on the picture; a function opens from there.
  const goods = page.getByRole('button', { name: /^goods/ });
  await goods.click();
  await draws(page, 2);
  assert.equal(await goods.getAttribute('aria-expanded'), 'false');
  await page.getByRole('link', { name: 'price' }).waitFor({ state: 'detached' });
  await accessible(page, 'closed');
  await click(page, refs.goods);
  await draws(page, 3);
  await page.getByRole('button', { name: 'Close all modules' }).click();
  await draws(page, 2);
  await page.getByRole('button', { name: 'Open all modules' }).click();
  await draws(page, 3);
  for (const name of ['Larger', 'Smaller', 'Show all']) await page.getByRole('button', { name }).click();
  await click(page, refs.order);
  await page.getByRole('heading', { name: 'shop::order' }).waitFor();
  await page.goBack();
  await draws(page, 3);

  // What an agent adds appears.
  const added = 'pub func twice (x: i64) -> (i64) pure {\n  return (mul.i64 x, 2)\n}\n';
  const { proposeEdit } = await data(
    `mutation ($input: ProposeEditInput!) { proposeEdit(input: $input) { outcome { __typename } } }`,
    { input: { programId: NAME, edits: [{ addText: { module: 'goods', text: added } }] } },
  );
  assert.equal(proposeEdit.outcome.__typename, 'EditApplied');
  await draws(page, 4);
  await page.getByRole('link', { name: 'twice' }).waitFor();
  // It lights up, in the picture and in the table; only its module was asked again.
  await page.locator('.map-canvas[data-lit^="f"]').waitFor();
  await page.locator('tr.lit', { hasText: 'twice' }).waitFor();
  await page.locator('[data-asked="3"]').waitFor({ state: 'attached' });
  await page.getByText(/^r\d+ changed 1 function$/).waitFor({ state: 'attached' });

  // What is looked for is gone to: Enter leads from one to the next.
  await page.getByRole('searchbox').fill('goods');
  await page.getByText('3 functions found').waitFor();
  await page.getByRole('searchbox').press('Enter');
  await page.getByText('1 of 3 found').waitFor();
  const first = await page.locator('.map-canvas').getAttribute('data-pointed');
  await page.getByRole('searchbox').press('Enter');
  await page.getByText('2 of 3 found').waitFor();
  assert.notEqual(await page.locator('.map-canvas').getAttribute('data-pointed'), first);
  await accessible(page, 'sought');
  await page.getByRole('searchbox').fill('');

  // Where nothing can be drawn, the table stands alone and says why.
  const plain = await open({}, () => {
    const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return kind.startsWith('webgl') ? null : getContext.call(this, kind, ...rest);
    };
  });
  await plain.getByText('This browser draws no map').waitFor();
  await plain.getByRole('link', { name: 'twice' }).waitFor();
  assert.equal(await plain.locator('.map-place').count(), 0);
  await accessible(plain, 'plain');

  // Narrow: one of both at a time, nothing wider than the page.
  const narrow = await open({ viewport: { width: 390, height: 844 } });
  await draws(narrow, 4);
  await accessible(narrow, 'narrow-map');
  await narrow.getByRole('tab', { name: 'Table' }).click();
  await narrow.getByRole('link', { name: 'twice' }).waitFor();
  await accessible(narrow, 'narrow-table');
  await fits(narrow, 'the map');

  pages.finish();
  console.log('the map shows a program as a picture and as a table, by hand and by keyboard');
} finally {
  await pages.close();
}
