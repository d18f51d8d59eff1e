import { setTimeout as sleep } from 'node:timers/promises';
import { environments } from '../../lib/environments';
import { first } from '../support/rows';
import {
  dashboardUrl,
  deprecatedFacts,
  environment,
  openDashboard,
  opening,
  textOf,
  useDashboards,
} from './dashboard';

useDashboards();

describe.each(environments)('the dashboard of $name', (row) => {
  const { name } = row;

  it('shows what people have to know', async () => {
    const { page } = await openDashboard(name);
    expect(await page.title()).toBe(`${name} · Wallet infrastructure`);
    const facts = await page.locator('dl > div').allInnerTexts();
    expect(facts.map((fact) => fact.split(/\n+/).join(': '))).toEqual([
      expect.stringMatching(
        new RegExp(`^Service level agreement: ${row.serviceLevelAgreement ? 'Yes' : 'None'}: `),
      ),
      expect.stringMatching(
        new RegExp(`^Status: ${row.deprecation ? 'Deprecated: Since' : 'In service: No'} `),
      ),
      `Funds: ${row.testFundsOnly ? 'Test funds only' : 'Real and test funds'}: Chains: ${row.chains.join(' and ')}.`,
      `Region: ${row.region}: AWS serves API, database and webhooks from it.`,
      expect.stringMatching(
        new RegExp(`^Data stays in: ${row.residencyRegions.join(', ')}: .* nowhere else`),
      ),
    ]);
    expect(await textOf(page.locator('#api-address'))).toBe(environment().outputs(name).ApiBaseUrl);
    await page.getByText('On this machine').waitFor();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  });

  it('leads to the dashboards of all others', async () => {
    const { page } = await openDashboard(name);
    const others = environments.filter((other) => other.name !== name);
    const links = page.getByRole('navigation', { name: 'Other environments' }).getByRole('link');
    expect(await links.allInnerTexts()).toEqual(others.map((other) => other.name));
    for (const other of others) {
      await page.goto(dashboardUrl(name));
      await links.filter({ hasText: other.name }).click();
      await page.getByRole('heading', { level: 1, name: other.name }).waitFor();
    }
  });

  it('warns of what there is to be warned of, and of nothing else', async () => {
    const { page } = await openDashboard(name);
    const warnings = await page.getByRole('note', { name: 'Warning' }).count();
    expect(warnings).toBe(row.testFundsOnly || row.deprecation ? 1 : 0);
  });

  it('loads nothing but itself, and does nothing that its policy forbids', async () => {
    const { page, requests, complaints } = await openDashboard(name);
    await page.getByLabel('Allow-list for').selectOption('terraform');
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
    expect(requests()).toEqual(opening(name));
    expect(complaints).toEqual([]);
    expect(await page.context().cookies()).toEqual([]);
  });

  it('has allow-lists for its address to copy', async () => {
    const { page } = await openDashboard(name, { permissions: ['clipboard-read', 'clipboard-write'] });
    const clipboard = async () => {
      // The page itself may not read it.
      const other = await page.context().newPage();
      await other.goto(`${environment().outputs(name).ApiBaseUrl}/webhook-origins`);
      await other.bringToFront();
      const text = await other.evaluate('navigator.clipboard.readText()');
      await other.close();
      return text;
    };
    const address = `${environment().outputs(name).WebhookOriginAddress}/32`;
    await page.getByRole('button', { name: 'Copy the address' }).click();
    await page.locator('#announcer', { hasText: 'Copied' }).waitFor({ state: 'attached' });
    expect(await clipboard()).toBe(address);

    await page.bringToFront();
    await page.getByLabel('Allow-list for').selectOption({ label: 'nftables' });
    await page.getByRole('button', { name: 'Copy the allow-list' }).click();
    const expected = await environment().wallet(name, 'origins', '--format', 'nftables');
    expect(await clipboard()).toBe(expected);
  });
});

it('has no links where no other dashboard is known', async () => {
  const { page } = await openDashboard(first.name, { facts: { others: [] } });
  expect(await page.getByRole('navigation', { name: 'Other environments' }).isVisible()).toBe(false);
});

it('does not say of a deployed environment that it is on this machine', async () => {
  const { page } = await openDashboard(first.name, { facts: { apiBaseUrl: 'https://api.example.com' } });
  expect(await page.getByText('On this machine').isVisible()).toBe(false);
});

it('shows a reserve, and says when webhooks come from it, where there is one', async () => {
  const { page } = await openDashboard(first.name, { facts: { webhookOriginReserve: '203.0.113.8' } });
  const reserve = page.locator('#origin-reserve');
  expect(await textOf(reserve)).toMatch(
    /^In an emergency that is announced, and only then,.*\s+203\.0\.113\.8\/32/,
  );
  await page.getByRole('button', { name: 'Copy the reserve' }).waitFor();
  const list = page.locator('#list-text', { hasText: 'allow 203.0.113.8/32; # ' });
  await list.waitFor();
  const { page: other } = await openDashboard(first.name);
  expect(await other.locator('#origin-reserve').isVisible()).toBe(first.webhookOrigin?.reserve === true);
});

it('a deprecated environment warns that it is for test funds', async () => {
  const { page } = await openDashboard(first.name, { facts: deprecatedFacts });
  const facts = await page.locator('dl > div').allInnerTexts();
  expect(facts.map((fact) => fact.split(/\n+/).join(': '))).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^Service level agreement: None/),
      'Status: Deprecated: Since 20 November 2026.',
      'Funds: Test funds only: Chains: mainnet and testnet.',
    ]),
  );
  expect(await page.getByRole('note', { name: 'Warning' }).allInnerTexts()).toEqual([
    expect.stringMatching(/^Use test funds only\. Deprecated since 20 November 2026.*terms of use/),
  ]);
});

describe('the security policy', () => {
  it('lets no other program in, no text become markup, and no other address be spoken to', async () => {
    const { page, complaints } = await openDashboard(first.name);
    const attempts = [
      "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
      "document.body.append(Object.assign(document.createElement('script'), { text: 'document.title = 1' }))",
      "fetch('http://127.0.0.1:9/webhook-origins')",
      "new Image().src = 'http://127.0.0.1:9/x.png'",
    ];
    for (const attempt of attempts) await page.evaluate(`(async () => { ${attempt} })().catch(() => 0)`);
    const forbidden = () => complaints.filter((text) => text.startsWith('policy: ')).sort();
    while (forbidden().length < attempts.length) await sleep(10);
    expect(forbidden()).toEqual([
      'policy: connect-src',
      'policy: img-src',
      'policy: require-trusted-types-for',
      'policy: require-trusted-types-for',
    ]);
    expect(await page.title()).toContain(first.name);
  });
});
