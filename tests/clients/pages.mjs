// Pages in Chromium, with what every test of them holds: no request to another host, no error on the
// console, nothing that axe finds in light or dark.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

/** How long anything may take. */
export const timeout = 60_000;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];

/** WebGL without a graphics card. */
export const DRAWING = ['--use-gl=swiftshader', '--enable-unsafe-swiftshader'];

/** A browser that looks at one server. */
export class Pages {
  static async open(server, name, drawing = ['--disable-gpu']) {
    const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
    const args = ['--no-sandbox', '--no-first-run', ...drawing, ...quiet];
    return new Pages(server, name, await chromium.launch({ executablePath, args }));
  }

  constructor(server, name, browser) {
    this.server = server;
    this.browser = browser;
    this.pictures = mkdtempSync(join(tmpdir(), `lmlang-${name}-`));
    this.foreign = [];
    this.complaints = [];
  }

  /** Opens a page in a session of its own; `prepare` runs in it before anything else does. */
  async page(address, options, prepare) {
    const viewport = { width: 1280, height: 800 };
    const context = await this.browser.newContext({ viewport, colorScheme: 'light', ...options });
    context.setDefaultTimeout(timeout);
    const page = await context.newPage();
    const check = (url) => {
      const { protocol, host } = new URL(url);
      if (!['blob:', 'data:'].includes(protocol) && host !== new URL(this.server).host) this.foreign.push(url);
    };
    page.on('request', (request) => check(request.url()));
    page.on('websocket', (socket) => check(socket.url()));
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
    if (prepare) await page.addInitScript(prepare);
    await page.goto(this.address(address));
    return page;
  }

  /** The address of a view. */
  address(path) {
    return new URL(path, this.server).href;
  }

  /**
   * Nothing that axe finds, in either colours. The page's policy keeps scripts out, so axe runs by the debugger's hand;
   * in the dark it looks at nothing but the colours, which are all that differs there.
   */
  async accessible(page, view) {
    await page.bringToFront();
    for (const colorScheme of ['light', 'dark']) {
      // The style sheet follows the system of itself, in a page that is not drawn at the moment, too.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await settled(page);
      await page.evaluate(axe);
      const runOnly = colorScheme === 'dark' ? ['color-contrast'] : undefined;
      const { violations } = await page.evaluate((options) => window.axe.run(document, options), {
        resultTypes: ['violations'],
        runOnly,
      });
      const told = violations.map(({ id, nodes }) => [id, ...nodes.map(({ target }) => target.join(' '))].join(' '));
      assert.deepEqual(told, [], `${view}, ${colorScheme}`);
      await page.screenshot({ path: join(this.pictures, `${view}-${colorScheme}.png`) });
    }
  }

  /** What every test of pages ends with. */
  finish() {
    assert.deepEqual(this.complaints, [], 'the pages have no errors');
    assert.deepEqual(this.foreign, [], 'no request leaves the origin');
  }

  async close() {
    console.log(`pictures: ${this.pictures}`);
    await this.browser.close();
  }
}

/** How often a page is asked for what may come, in milliseconds: one that is not drawn has no frames to ask it at. */
const polling = 100;

/** Waits until a page shows what it has, and no place of what is on its way. */
export async function settled(page) {
  const done = () => !document.querySelector('.skeleton, [data-busy="true"]');
  await page.waitForFunction(done, null, { timeout, polling });
}

/** Presses Tab until the focus is at a locator. */
export async function tabTo(page, locator) {
  await locator.waitFor();
  for (let at = 0; at < 120; at += 1) {
    await page.keyboard.press('Tab');
    if (await locator.evaluate((element) => element === document.activeElement)) return;
  }
  assert.fail(`the keyboard reaches ${locator}`);
}

/** Nothing is wider than the page. */
export async function fits(page, view) {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  assert.equal(scrollWidth, clientWidth, `${view} is as wide as the page`);
}
