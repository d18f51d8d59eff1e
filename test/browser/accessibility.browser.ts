import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { first } from '../support/rows';
import { asLines, type CapturedDelivery, captureDelivery } from './captured-delivery';
import { deprecatedFacts, desktop, environment, openDashboard, phone, useDashboards } from './dashboard';

useDashboards();

/** An environment's own facts, and those of a deprecated one. */
const shown = { own: {}, deprecated: deprecatedFacts };

/** Where screenshots are put for people to look at. @default - none are made */
const { SCREENSHOTS } = process.env;

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

async function violations(page: Page): Promise<string[]> {
  // Evaluated by the browser itself: the page's policy lets no script in.
  await page.evaluate(axe.source);
  const found = (await page.evaluate(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
  )) as AxeResults;
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}

const overflow = (page: Page) =>
  page.evaluate('document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth');

async function screenshot(page: Page, name: string): Promise<void> {
  if (!SCREENSHOTS) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

let delivery: CapturedDelivery;
beforeAll(async () => {
  delivery = await captureDelivery(environment(), first.name);
}, 90_000);

/** Brings everything to light that the page can show. */
async function fill(page: Page): Promise<void> {
  const { headers, body, secret } = delivery;
  await page.getByLabel('Allow-list for').selectOption('nftables');
  await page.getByLabel('Headers').fill(asLines(headers));
  await page.getByLabel('Body').fill(body);
  await page.getByLabel('Secret').fill(secret);
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.locator('#verify-result .panel').waitFor();
}

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  describe.each(Object.entries({ phone, desktop }))('on a %s', (device, viewport) => {
    it.each(Object.entries(shown))(
      'with %s facts it can be read and used by everybody, whatever it shows',
      async (name, facts) => {
        const { page } = await openDashboard(first.name, { colorScheme, viewport, facts });
        const as = `${name}-${colorScheme}-${device}`;
        expect(await violations(page)).toEqual([]);
        expect(await overflow(page)).toBe(0);
        await screenshot(page, `${as}-1-opened`);

        await fill(page);
        expect(await violations(page)).toEqual([]);
        expect(await overflow(page)).toBe(0);
        await screenshot(page, `${as}-2-verified`);
      },
    );
  });
});

it('no line is longer than the narrowest screen', async () => {
  // 320 px: https://www.w3.org/WAI/WCAG22/Understanding/reflow.html
  const { page } = await openDashboard(first.name, {
    viewport: { width: 320, height: 640 },
    facts: deprecatedFacts,
  });
  for (const format of await page.getByLabel('Allow-list for').locator('option').all()) {
    await page.getByLabel('Allow-list for').selectOption(await format.getAttribute('value'));
    expect(await overflow(page)).toBe(0);
  }
});

it('axe would find what is wrong', async () => {
  const { page } = await openDashboard(first.name);
  await page.evaluate("document.querySelector('label').remove()");
  expect(await violations(page)).toEqual([expect.stringContaining('select-name')]);
});
