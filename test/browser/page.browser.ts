import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { example } from '../../dashboard/content';
import { formatAllowList } from '../../domain/allow-list';
import type { DashboardFacts } from '../../domain/dashboard';
import { fillPage } from '../../lambda/serve-dashboard/handler';
import { dashboardPage } from '../../lib/dashboard/page';
import { deprecatedFacts, facts } from '../dashboard/facts';
import { type HttpServer, startHttpServer } from '../support/http-server';

const desktop = { width: 1280, height: 900 };
const built = dashboardPage();
const places = [
  ...['chromium', 'chromium-browser', 'google-chrome'].map((name) => `/usr/bin/${name}`),
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

let browser: Browser;
let server: HttpServer;
let served: DashboardFacts;
beforeAll(async () => {
  const executablePath = process.env.CHROMIUM_PATH ?? places.find(existsSync);
  if (!executablePath)
    throw new Error('No Chromium was found. Install it (apt-get install chromium), or set CHROMIUM_PATH.');
  // Chromium refuses to run as root otherwise, as in a container.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  browser = await chromium.launch({ executablePath, args: ['--disable-gpu', '--no-first-run', ...asRoot] });
  server = await startHttpServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...built.headers });
    response.end(fillPage(built.html, JSON.stringify(served)));
  });
}, 90_000);
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
afterAll(async () => {
  await browser.close();
  await server.stop();
});

/** Opens the page of an environment in a new profile. */
async function open(of: DashboardFacts = facts, options: BrowserContextOptions = {}) {
  served = of;
  const context = await browser.newContext({ viewport: desktop, ...options });
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', ({ message }) => complaints.push(message));
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error(event.effectiveDirective));",
  );
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(server.url);
  return { page, requests, complaints };
}

async function violations(page: Page): Promise<unknown> {
  // Evaluated by the browser itself: the page's policy blocks scripts.
  await page.evaluate(axe.source);
  const rules = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']";
  return page.evaluate(`axe.run({ runOnly: ${rules} }).then(({ violations }) => violations)`);
}

const overflow = (page: Page) =>
  page.evaluate('document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth');

async function fillIn(page: Page): Promise<void> {
  await page.getByText('Find out why').click();
  await page.getByRole('button', { name: 'Fill in an example' }).click();
  await page.getByText('The signature is valid, but the delivery is').waitFor();
}

/** A folder for the pictures in docs/dashboard.md. @default - none are taken */
const { SCREENSHOTS } = process.env;

// The narrowest is of https://www.w3.org/WAI/WCAG22/Understanding/reflow.html
const sizes = { narrow: { width: 320, height: 640 }, phone: { width: 390, height: 844 }, desktop };
describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it.each(Object.entries(sizes))('the page is accessible and fits: %s', async (device, viewport) => {
    for (const environment of [deprecatedFacts, facts]) {
      const { page } = await open(environment, { colorScheme, viewport });
      expect(await violations(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      const path = join(SCREENSHOTS ?? '', `dashboard-${device}-${colorScheme}.png`);
      if (SCREENSHOTS && environment === facts) await page.screenshot({ path, fullPage: true });
      await fillIn(page);
      await page.getByText('nftables', { exact: true }).click();
      expect(await violations(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
    }
  });
});

it('shows, switches and copies allow-lists', async () => {
  const { page } = await open();
  await page.getByText('nftables', { exact: true }).click();
  expect(await page.locator('#list').textContent()).toBe(formatAllowList('nftables', [facts]));
  // The browser's clipboard is shared with the machine and other tests.
  await page.evaluate(
    'globalThis.written = []; navigator.clipboard.writeText = async (text) => void written.push(text)',
  );
  await page.getByRole('button', { name: 'Copy the allow-list' }).click();
  await page.getByRole('button', { name: 'Copy the address' }).click();
  expect(await page.evaluate('written')).toEqual([formatAllowList('nftables', [facts]), '203.0.113.7/32']);
  expect(await page.getByRole('button', { name: 'Copy the address' }).textContent()).toBe('Copied');
});

it('verifies, clears the secret after five minutes and the form when the page is left, and sends nothing', async () => {
  const { page, requests, complaints } = await open();
  await page.clock.install();
  await fillIn(page);
  const values = () =>
    Promise.all(['Headers', 'Raw body', 'Secret'].map((label) => page.getByLabel(label).inputValue()));
  expect(await values()).toEqual([example.headers, example.body, example.secret]);
  await page.getByLabel('Headers').fill('webhook-id: msg_1');
  await page.clock.fastForward('04:59');
  expect((await values())[2]).toBe(example.secret);
  await page.clock.fastForward('00:02');
  expect((await values())[2]).toBe('');
  expect({ requests, complaints }).toEqual({ requests: [server.url], complaints: [] });
  await page.goto('about:blank');
  await page.goBack();
  await page.getByText('Find out why').click();
  expect(await values()).toEqual(['', '', '']);
});

it('its policy blocks other scripts, markup from text, and all requests', async () => {
  const { page, complaints } = await open();
  for (const attempt of [
    "new Image().src = 'http://127.0.0.1:9/x.png'",
    "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
    "document.body.append(Object.assign(document.createElement('script'), { text: 'document.title = 1' }))",
    "await fetch('http://127.0.0.1:9/')",
  ])
    await page.evaluate(`(async () => { ${attempt} })().catch(() => 0)`);
  for (const directive of ['require-trusted-types-for', 'connect-src', 'img-src'])
    while (!complaints.includes(directive)) await sleep(10);
  expect(await page.title()).toBe('eu · Wallet infrastructure');
});
