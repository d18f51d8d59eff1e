import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { DashboardFacts } from '../../dashboard/facts';
import { environments } from '../../lib/environments';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import { launchChromium } from './chromium';

export const phone = { width: 390, height: 844 };
export const desktop = { width: 1280, height: 900 };
export const names = environments.map(({ name }) => name);

/** A dashboard that is open in a browser, and what it has done. */
export interface OpenDashboard {
  readonly page: Page;
  /** Method and address of everything that was asked for, once each. */
  readonly requests: () => readonly string[];
  /** What the browser complained about: errors of the program, and whatever its security policy kept from happening. */
  readonly complaints: readonly string[];
}

let browser: Browser | undefined;
let local: LocalEnvironment | undefined;
const opened: Page[] = [];

/** Starts what the tests of a file need; to be called at its top. */
export function useDashboards(): void {
  beforeAll(async () => {
    [local, browser] = await Promise.all([localEnvironment(), launchChromium()]);
  }, 90_000);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((page) => page.context().close()));
  });
  afterAll(() => browser?.close());
}

export function environment(): LocalEnvironment {
  if (!local) throw new Error('useDashboards() is not called at the top of the file.');
  return local;
}

export const dashboardUrl = (name: string): string => environment().outputs(name).DashboardUrl ?? '';

/** What a page asks for: itself. */
export const opening = (name: string): readonly string[] => [`GET ${dashboardUrl(name)}/`];

/** What people read there, once it is there: line by line. */
export async function textOf(locator: Locator): Promise<string> {
  await locator.waitFor();
  const texts = await locator.allInnerTexts();
  return texts.join('\n');
}

/** Facts of a deprecated environment, which the table need not have. */
export const deprecatedFacts: Partial<DashboardFacts> = {
  chains: ['mainnet', 'testnet'],
  serviceLevelAgreement: false,
  testFundsOnly: true,
  deprecation: { since: '2026-11-20' },
};

interface DashboardOptions extends BrowserContextOptions {
  /** Instead of a dashboard's. */
  readonly address?: string;
  /** In place of the environment's own, in the page that its API serves. */
  readonly facts?: Partial<DashboardFacts>;
}

/** A new page without any history, cookies or permissions. */
export async function openDashboard(
  name: string,
  { address = dashboardUrl(name), facts, ...options }: DashboardOptions = {},
): Promise<OpenDashboard> {
  if (!browser) throw new Error('useDashboards() is not called at the top of the file.');
  const context = await browser.newContext({ viewport: desktop, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  opened.push(page);
  const requests = new Set<string>();
  const complaints: string[] = [];
  page.on('request', (request) => requests.add(`${request.method()} ${request.url()}`));
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    // An answer that is a refusal is an error to the console, and due.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.effectiveDirective));",
  );
  if (facts) await withFacts(page, address, facts);
  await page.goto(address);
  return { page, requests: () => [...requests], complaints };
}

const factsInPage = /(?<=<script type="application\/json" id="facts">).*?(?=<\/script>)/s;

/** The content security policy does not cover the facts: they are no script. */
const withFacts = (page: Page, address: string, facts: Partial<DashboardFacts>) =>
  page.route(address, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(factsInPage, (own) =>
      JSON.stringify({ ...JSON.parse(own), ...facts }),
    );
    await route.fulfill({ response, body });
  });
