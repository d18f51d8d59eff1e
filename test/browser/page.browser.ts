import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { allowListFormatNames, formatAllowList } from '../../domain/allow-list';
import type { DashboardFacts } from '../../domain/dashboard';
import { secretText, sign } from '../../domain/signature';
import { fillPage } from '../../lambda/serve-dashboard/fill-page';
import { dashboardPage } from '../../lib/dashboard/page';
import { projectRoot } from '../architecture/sources';
import { deprecatedFacts, facts } from '../dashboard/facts';
import { type HttpServer, startHttpServer } from '../support/http-server';

// The narrowest is of https://www.w3.org/WAI/WCAG22/Understanding/reflow.html
const sizes = {
  narrow: { width: 320, height: 640 },
  phone: { width: 375, height: 1_500 },
  tablet: { width: 768, height: 1_024 },
  desktop: { width: 1280, height: 1_500 },
};
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
    response.end(fillPage(built.html, served));
  });
}, 90_000);
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
afterAll(async () => {
  await browser.close();
  await server.stop();
});

interface Opening extends BrowserContextOptions {
  /** A script that runs before the page's. */
  readonly before?: string;
}

/** Opens the page of an environment in a new profile. */
async function open(of: DashboardFacts = facts, { before = '', ...options }: Opening = {}) {
  served = of;
  const context = await browser.newContext({ viewport: sizes.desktop, ...options });
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', ({ message }) => complaints.push(message));
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error(event.effectiveDirective));",
  );
  await page.addInitScript(before);
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

const verdict = (page: Page) => page.locator('#verdict').textContent();
async function fillIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Fill in an example' }).click();
  await page.getByText('The signature is valid').waitFor();
}
async function verify(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.locator('#verdict strong', { hasText: title }).waitFor();
}

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it.each(Object.entries(sizes))('the page is accessible and fits: %s', async (_, viewport) => {
    for (const environment of [deprecatedFacts, facts]) {
      const { page, complaints } = await open(environment, { colorScheme, viewport });
      const check = async () =>
        expect([await violations(page), await overflow(page), complaints]).toEqual([[], 0, []]);
      await check();
      await verify(page, 'Cannot verify');
      await check();
      await fillIn(page);
      await page.getByLabel('Raw body', { exact: true }).fill('{}');
      await verify(page, 'The signature is invalid');
      for (const tab of ['nftables', 'curl']) await page.getByRole('tab', { name: tab }).click();
      await check();
    }
  });
});

it('at 375 px, labels keep their distance, targets have 24 px, code scrolls and fields grow', async () => {
  const { page } = await open(facts, { viewport: sizes.phone });
  await fillIn(page);
  const touching = `[...document.querySelectorAll('.row > dt')].map((label) => {
    const [one, other] = [label, label.nextElementSibling].map((each) => each.getBoundingClientRect());
    return other.top >= one.bottom || other.left - one.left - label.scrollWidth >= 8;
  })`;
  expect(new Set((await page.evaluate(touching)) as boolean[])).toEqual(new Set([true]));
  const small = `[...document.querySelectorAll('nav a, button, input, textarea, [role=tab]')].filter((each) => {
    const { width, height } = each.getBoundingClientRect();
    return height > 0 && Math.min(width, height) < 24;
  }).map((each) => each.outerHTML)`;
  expect(await page.evaluate(small)).toEqual([]);
  const code = page.getByRole('tabpanel', { name: 'TypeScript' }).locator('pre');
  expect(await code.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)).toBe(true);
  const height = () => page.locator('#body').evaluate(({ clientHeight }) => clientHeight);
  const before = await height();
  await page.getByLabel('Raw body', { exact: true }).fill('line\n'.repeat(12));
  expect(await height()).toBeGreaterThan(before + 100);
});

it('without JavaScript, everything is there, and nothing that does nothing', async () => {
  const { page, requests } = await open(facts, { javaScriptEnabled: false });
  for (const id of [...allowListFormatNames, 'typescript', 'python', 'go', 'curl', 'address'])
    expect(await page.locator(`#${id}`).isVisible()).toBe(true);
  expect(await page.locator('noscript p').isVisible()).toBe(true);
  expect(await page.locator(':is(button, textarea, [type=password]):visible').count()).toBe(0);
  const silent = '#verdict, #comparison, #announcer, .problem';
  const empty = await page
    .locator(`main :is(p, pre, code, dd, dt, h1, h2, h3, li):visible:empty:not(${silent})`)
    .count();
  expect(empty).toBe(0);
  await page.getByLabel('Raw body verified').check();
  expect(requests).toEqual([server.url]);
});

it('tabs follow the keyboard, and remember their choice, as the checklist does', async () => {
  const { page, complaints } = await open();
  const tab = (name: string) => page.getByRole('tab', { name });
  const state = async () => [
    await page.evaluate('document.activeElement.textContent'),
    await page.evaluate('document.activeElement.ariaSelected'),
    await page.getByRole('tabpanel').last().getAttribute('id'),
  ];
  await tab('TypeScript').focus();
  await page.keyboard.press('ArrowRight');
  expect(await state()).toEqual(['Python', 'true', 'python']);
  await page.keyboard.press('End');
  expect(await state()).toEqual(['curl', 'true', 'curl']);
  await page.keyboard.press('ArrowRight');
  expect(await state()).toEqual(['TypeScript', 'true', 'typescript']);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  // The other tabs are no stops of the Tab key: next come the copy button and the code.
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Copy the Python code');
  await page.getByLabel('Timestamp checked').check();
  await fillIn(page);
  await page.reload();
  expect(await tab('Python').getAttribute('aria-selected')).toBe('true');
  expect(await page.getByLabel('Timestamp checked').isChecked()).toBe(true);
  expect(await page.getByLabel('Address allowed').isChecked()).toBe(false);
  expect(await page.evaluate('({ ...localStorage })')).toEqual({
    'tab-Language': 'python',
    'tick-time': 'true',
  });
  expect(complaints).toEqual([]);
});

it('tabs work where storage is refused', async () => {
  const before = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused'); } });";
  const { page, complaints } = await open(facts, { before });
  await page.getByRole('tab', { name: 'Go' }).click();
  await page.getByLabel('Timestamp checked').check();
  expect(await page.locator('#go').isVisible()).toBe(true);
  expect(complaints).toEqual([]);
});

it('the selected tab has a border in forced colours, and others have none', async () => {
  const { page } = await open(facts, { forcedColors: 'active' });
  const widths =
    "[...document.querySelectorAll('[role=tab]')].map((tab) => [tab.ariaSelected, getComputedStyle(tab).borderBottomWidth])";
  expect(new Set(((await page.evaluate(widths)) as string[][]).map(String))).toEqual(
    new Set(['true,3px', 'false,0px']),
  );
});

it('prints on white what a reader needs on paper', async () => {
  const { page } = await open(facts, { colorScheme: 'dark' });
  await page.emulateMedia({ media: 'print' });
  const backgrounds = await page.evaluate(
    "['body', '.dark'].map((each) => getComputedStyle(document.querySelector(each)).backgroundColor)",
  );
  expect(backgrounds).toEqual(['rgb(255, 255, 255)', 'rgb(255, 255, 255)']);
  for (const hidden of ['nav', '#verifier', '[data-copy] > button', '[aria-selected=false]'])
    expect(await page.locator(hidden).first().isVisible()).toBe(false);
  expect(await page.locator('#address').isVisible()).toBe(true);
});

it('switches and copies allow-lists', async () => {
  const { page } = await open();
  await page.getByRole('tab', { name: 'nftables' }).click();
  // The browser's clipboard is shared with the machine and other tests.
  await page.evaluate('navigator.clipboard.writeText = async (text) => { globalThis.written = text; }');
  await page.getByRole('button', { name: 'Copy the allow-list' }).click();
  expect(await page.evaluate('written')).toBe(formatAllowList('nftables', [facts]));
  expect(await page.getByRole('button', { name: 'Copy the allow-list' }).textContent()).toBe('Copied');
});

it('an empty form marks its fields and takes the focus there', async () => {
  const { page } = await open();
  await verify(page, 'Cannot verify: the input is incomplete');
  const invalid = () => page.locator('[aria-invalid=true]').evaluateAll((all) => all.map(({ id }) => id));
  expect(await invalid()).toEqual(['headers', 'body', 'secret']);
  expect(await page.evaluate('document.activeElement.id')).toBe('headers');
  expect(await page.locator('#secret-problem').textContent()).toContain('The secret is missing.');
  await page.keyboard.type('w');
  expect([await invalid(), await verdict(page)]).toEqual([[], '']);
});

it('verifies a line of `wallet local receive --json`, by keyboard, and shows where signatures part', async () => {
  const { page } = await open();
  const [key, id, body] = [randomBytes(32), 'msg_1', '{"id":"evt_1","data":{"name":"Zürich €"}}'];
  const timestamp = Math.floor(Date.now() / 1_000);
  const signature = sign({ id, timestamp, body }, [key]);
  const headers = { 'webhook-id': id, 'webhook-timestamp': `${timestamp}`, 'svc-signature': signature };
  await page.getByLabel('Headers').focus();
  await page.keyboard.insertText(JSON.stringify({ date: '', verified: true, headers, body }));
  expect(await page.getByLabel('Raw body', { exact: true }).inputValue()).toBe(body);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.insertText(secretText(key));
  await page.keyboard.press('Enter');
  await page.getByText('The signature is valid').waitFor();
  const row = (name: string) =>
    page.locator('#comparison .row', { hasText: name }).locator('code').innerHTML();
  expect(await page.locator('#comparison code').first().textContent()).toBe(`${id}.${timestamp}.${body}`);
  expect([await row('Expected'), (await row('Received')).trim()]).toEqual([signature, signature]);

  await page.getByLabel('Raw body', { exact: true }).fill('{}');
  expect([await verdict(page), await page.locator('#comparison').isVisible()]).toEqual(['', false]);
  await verify(page, 'The signature is invalid');
  const other = sign({ id, timestamp, body: '{}' }, [key]);
  const at = [...other].findIndex((each, index) => each !== signature[index]);
  const marked = (text: string) => `${text.slice(0, at)}<mark>${text[at]}</mark>${text.slice(at + 1)}`;
  expect([await row('Expected'), (await row('Received')).trim()]).toEqual([marked(other), marked(signature)]);
});

it('clears the secret after five minutes and the form when the page is left, and sends nothing', async () => {
  const { page, requests, complaints } = await open();
  await page.clock.install();
  await fillIn(page);
  const values = () =>
    Promise.all(
      ['Headers', 'Raw body', 'Secret'].map((label) => page.getByLabel(label, { exact: true }).inputValue()),
    );
  const [, , secret] = await values();
  expect(secret).toMatch(/^whsec_/);
  await page.getByLabel('Headers').fill('webhook-id: msg_1');
  await page.clock.fastForward('04:59');
  expect((await values())[2]).toBe(secret);
  await page.clock.fastForward('00:02');
  expect((await values())[2]).toBe('');
  expect({ requests, complaints }).toEqual({ requests: [server.url], complaints: [] });
  await page.goto('about:blank');
  await page.goBack();
  await page.locator('#form').waitFor();
  expect(await values()).toEqual(['', '', '']);
});

/** The pictures of the documents. With the variable SCREENSHOTS they are taken again, into that folder. */
const pictures: Readonly<Record<string, readonly [Opening, part?: string]>> = {
  'dashboard-desktop-light.png': [{ colorScheme: 'light' }],
  'dashboard-desktop-dark.png': [{ colorScheme: 'dark' }],
  'dashboard-phone-light.png': [{ colorScheme: 'light', viewport: sizes.phone }],
  'dashboard-phone-dark.png': [{ colorScheme: 'dark', viewport: sizes.phone }],
  'dashboard-retries.png': [{ colorScheme: 'light' }, '#retries'],
  'dashboard-verifier.png': [{ colorScheme: 'light' }, '#verifier'],
};

it('the documents have exactly these pictures', () => {
  const found = readdirSync(join(projectRoot, 'docs/images')).filter((name) => name.startsWith('dashboard-'));
  expect(found.sort()).toEqual(Object.keys(pictures).sort());
});

const { SCREENSHOTS } = process.env;
if (SCREENSHOTS)
  it.each(Object.entries(pictures))('takes %s', async (name, [opening, part]) => {
    const { page } = await open(facts, opening);
    await page.clock.setFixedTime('2026-11-20T12:00:05Z');
    if (part) await fillIn(page);
    if (part) await page.getByLabel('Raw body', { exact: true }).fill('{"id":"evt_1"}');
    if (part) await verify(page, 'The signature is invalid');
    const path = join(SCREENSHOTS, name);
    await (part ? page.locator(part).screenshot({ path }) : page.screenshot({ path }));
  });
