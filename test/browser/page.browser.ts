import { randomBytes } from 'node:crypto';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { allowListFormatNames, formatAllowList } from '../../domain/allow-list';
import type { DashboardFacts } from '../../domain/dashboard';
import { secretText, sign } from '../../domain/signature';
import { fillPage } from '../../lambda/serve-dashboard/fill-page';
import { dashboardPage } from '../../lib/dashboard/page';
import { deprecatedFacts, facts } from '../dashboard/facts';
import { type HttpServer, startHttpServer } from '../support/http-server';

// The narrowest is of https://www.w3.org/WAI/WCAG22/Understanding/reflow.html
const sizes = {
  narrow: { width: 320, height: 640 },
  phone: { width: 375, height: 812 },
  tablet: { width: 768, height: 1_024 },
  desktop: { width: 1280, height: 800 },
};
const built = dashboardPage();

let browser: Browser;
let server: HttpServer;
let served: DashboardFacts;
beforeAll(async () => {
  const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
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

async function open(of: DashboardFacts = facts, options: BrowserContextOptions = {}) {
  served = of;
  const context = await browser.newContext({ viewport: sizes.desktop, ...options });
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', ({ message }) => complaints.push(message));
  await page.addInitScript(`
    addEventListener('securitypolicyviolation', (event) => console.error(event.effectiveDirective));
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries())
        if (!hadRecentInput) console.error('a layout shift', value);
    }).observe({ type: 'layout-shift', buffered: true });
  `);
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(server.url);
  return { page, requests, complaints };
}

async function violations(page: Page): Promise<unknown> {
  // Evaluated by the browser itself: the page's policy blocks scripts.
  await page.evaluate(axe.source);
  const rules = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']";
  // Text of its background's color may be meant to be hidden: here, none is.
  const isHidden = "(each) => JSON.stringify(each).includes('equalRatio')";
  const found = `violations.concat(incomplete.filter(${isHidden}))`;
  return page.evaluate(`axe.run({ runOnly: ${rules} }).then(({ violations, incomplete }) => ${found})`);
}

const verdict = (page: Page) => page.locator('#verdict').textContent();
const values = (page: Page) =>
  page.evaluate<string[]>("['headers', 'body', 'secret'].map((id) => document.getElementById(id).value)");
async function fillIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Fill in the example' }).click();
  await page.getByText('The signature is valid').waitFor();
}
async function verify(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.locator('#verdict strong', { hasText: title }).waitFor();
}

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it.each(Object.entries(sizes))('the page is accessible and fits: %s', async (size, viewport) => {
    const isMobile = size === 'phone';
    for (const environment of [deprecatedFacts, facts]) {
      const options = { colorScheme, viewport, hasTouch: isMobile, isMobile };
      const { page, complaints } = await open(environment, options);
      const controls = page.locator(':is(button, nav a, textarea, [type=password]):visible');
      const heights = controls.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
      expect(Math.min(...(await heights))).toBe(isMobile ? 44 : 36);
      const { y = Infinity } = (await page.locator('#address').boundingBox()) ?? {};
      if (environment === facts) expect(y).toBeLessThan(300);
      const check = async () => {
        const overflow = 'document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth';
        const found = [await violations(page), await page.evaluate(overflow), complaints];
        expect(found).toEqual([[], 0, []]);
      };
      await page.getByText('The signature is valid').waitFor();
      await check();
      await page.getByRole('button', { name: 'Clear' }).click();
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

it('without JavaScript, everything is there, and nothing that does nothing', async () => {
  const { page, requests } = await open(facts, { javaScriptEnabled: false });
  for (const id of [...allowListFormatNames, 'typescript', 'python', 'go', 'curl', 'address'])
    expect(await page.locator(`#${id}`).isVisible()).toBe(true);
  expect(await page.locator('noscript p').isVisible()).toBe(true);
  expect(await page.locator(':is(button, textarea, [type=password]):visible').count()).toBe(0);
  await page.getByLabel('Raw body verified').check();
  expect(requests).toEqual([server.url]);
});

it('tabs follow the keyboard, and remember their choice, as the checklist does', async () => {
  const { page, complaints } = await open();
  const focused = (property: string) => page.evaluate(`document.activeElement.${property}`);
  await page.getByRole('tab', { name: 'TypeScript' }).focus();
  for (const [key, tab] of [
    ['ArrowRight', 'Python'],
    ['End', 'curl'],
    ['ArrowRight', 'TypeScript'],
    ['ArrowLeft', 'curl'],
    ['Home', 'TypeScript'],
    ['ArrowRight', 'Python'],
  ] as const) {
    await page.keyboard.press(key);
    expect([await focused('textContent'), await focused('ariaSelected')]).toEqual([tab, 'true']);
    expect(await page.getByRole('tabpanel').last().getAttribute('id')).toBe(tab.toLowerCase());
  }
  // The other tabs are no stops of the Tab key: next come the copy button and the code.
  await page.keyboard.press('Tab');
  expect(await focused('ariaLabel')).toBe('Copy the Python code');
  await page.getByLabel('Timestamp checked').check();
  await fillIn(page);
  await page.reload();
  expect(await page.locator('#python').isVisible()).toBe(true);
  expect(await page.getByLabel('Timestamp checked').isChecked()).toBe(true);
  const stored = { 'tab-Language': 'python', 'tick-time': 'true' };
  expect(await page.evaluate('({ ...localStorage })')).toEqual(stored);
  expect(complaints).toEqual([]);
});

it('a keyboard goes from the skip link through the page in the order in which it is read', async () => {
  const { page } = await open();
  const stop = `(() => {
    const { activeElement } = document;
    const place = activeElement.closest('main > *, header, footer') ?? document.body;
    return [activeElement.textContent, place.getBoundingClientRect().top + scrollY, getComputedStyle(activeElement).outlineWidth];
  })()`;
  const stops: [text: string, top: number, outline: string][] = [];
  while (stops.length < 2 || (await page.evaluate('document.activeElement !== document.body'))) {
    await page.keyboard.press('Tab');
    stops.push(await page.evaluate<[string, number, string]>(stop));
  }
  const [first, ...others] = stops.slice(0, -1);
  expect(first?.[0]).toBe('Skip to the address');
  expect(others.length).toBeGreaterThan(25);
  const tops = others.map(([, top]) => top);
  expect(tops).toEqual([...tops].sort((one, other) => one - other));
  expect(new Set(others.map(([, , outline]) => outline))).toEqual(new Set(['2px']));
});

it('a pasted delivery takes the place of the example, and of nothing else', async () => {
  const { page } = await open();
  await page.getByText('The signature is valid').waitFor();
  const paste = async (id: string, text: string) => {
    await page.locator(`#${id}`).focus();
    // The browser's clipboard is shared with the machine.
    await page.evaluate("document.activeElement.dispatchEvent(new Event('paste', { bubbles: true }))");
    await page.keyboard.insertText(text);
  };
  await paste('headers', 'webhook-id: msg_1');
  expect(await values(page)).toEqual(['webhook-id: msg_1', '', '']);
  await paste('body', '{}');
  expect(await values(page)).toEqual(['webhook-id: msg_1', '{}', '']);
});

it('prints on white every format and every attempt', async () => {
  const { page } = await open(facts, { colorScheme: 'dark', viewport: sizes.phone });
  await page.emulateMedia({ media: 'print' });
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  for (const shown of [...allowListFormatNames, 'typescript', 'python', 'go', 'curl'])
    for (const part of ['pre', 'h3']) expect(await page.locator(`#${shown} ${part}`).isVisible()).toBe(true);
  expect(await page.getByText('71:22:35').isVisible()).toBe(true);
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
  for (const hidden of ['nav', '#verifier', '[data-copy] > button'])
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
  await page.getByRole('button', { name: 'Clear' }).click();
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
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByLabel('Headers').focus();
  await page.keyboard.insertText(JSON.stringify({ date: '', verified: true, headers, body }));
  expect(await page.getByLabel('Raw body', { exact: true }).inputValue()).toBe(body);
  for (const field of ['body', 'secret']) {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe(field);
  }
  await page.keyboard.insertText(secretText(key));
  await page.keyboard.press('Enter');
  await page.getByText('The signature is valid').waitFor();
  const compared = () =>
    page.locator('#comparison code').evaluateAll((all) => all.map(({ innerHTML }) => innerHTML.trim()));
  const [signed, ...signatures] = await compared();
  const text = `${id}.${timestamp}.${body}`;
  expect([signed?.replace(/<[^>]+>/g, ''), ...signatures]).toEqual([text, signature, signature]);

  await page.getByLabel('Raw body', { exact: true }).fill('{}');
  expect([await verdict(page), await page.locator('#comparison').isVisible()]).toEqual(['', false]);
  await verify(page, 'The signature is invalid');
  const other = sign({ id, timestamp, body: '{}' }, [key]);
  const at = [...other].findIndex((each, index) => each !== signature[index]);
  const marked = (text: string) => `${text.slice(0, at)}<mark>${text[at]}</mark>${text.slice(at + 1)}`;
  expect((await compared()).slice(1)).toEqual([marked(other), marked(signature)]);
});

it('clears the secret after five minutes and the form when the page is left, and sends nothing', async () => {
  const { page, requests, complaints } = await open();
  await page.clock.install();
  await fillIn(page);
  const [, , secret] = await values(page);
  expect(secret).toMatch(/^whsec_/);
  await page.getByLabel('Headers').fill('webhook-id: msg_1');
  await page.clock.fastForward('04:59');
  expect((await values(page))[2]).toBe(secret);
  await page.clock.fastForward('00:02');
  expect((await values(page))[2]).toBe('');
  expect({ requests, complaints }).toEqual({ requests: [server.url], complaints: [] });
  await page.goto('about:blank');
  await page.goBack();
  await page.locator('#form').waitFor();
  const example = expect.stringMatching(/^webhook-id: msg_754/);
  expect(await values(page)).toEqual([example, expect.any(String), secret]);
});
