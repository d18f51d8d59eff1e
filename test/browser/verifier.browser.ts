import type { Page } from 'playwright-core';
import { first } from '../support/rows';
import { asLines, type CapturedDelivery, captureDelivery } from './captured-delivery';
import { environment, names, openDashboard, opening, textOf, useDashboards } from './dashboard';

useDashboards();

interface Pasted {
  readonly headers: string;
  readonly body: string;
  readonly secret: string;
}

async function verify(page: Page, { headers, body, secret }: Pasted): Promise<string> {
  await page.getByLabel('Headers').fill(headers);
  await page.getByLabel('Body').fill(body);
  await page.getByLabel('Secret').fill(secret);
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  return textOf(page.locator('#verify-result .panel'));
}

describe.each(names)('a webhook of %s', (name) => {
  let delivery: CapturedDelivery;
  beforeAll(async () => {
    delivery = await captureDelivery(environment(), name);
  });
  const pasted = () => ({ ...delivery, headers: asLines(delivery.headers) });

  it('holds as it was delivered, with the headers as lines or as JSON', async () => {
    const { page, requests, complaints } = await openDashboard(name);
    expect(await verify(page, pasted())).toMatch(/^The signature holds\n/);
    expect(await verify(page, { ...pasted(), headers: JSON.stringify(delivery.headers) })).toMatch(
      /^The signature holds\n/,
    );
    expect(requests()).toEqual(opening(name));
    expect(complaints).toEqual([]);
  });

  it('does not hold with another body', async () => {
    const { page } = await openDashboard(name);
    const body = delivery.body.replace('wa-1', 'wa-2');
    expect(await verify(page, { ...pasted(), body })).toMatch(/^The signature does not hold\n/);
  });

  it('says that it is too old, once it is', async () => {
    const { page } = await openDashboard(name);
    await page.clock.install({ time: Date.now() + 3_600_000 });
    expect(await verify(page, pasted())).toMatch(/^The signature holds, but the delivery is 1 hour old\n/);
  });
});

it('the secret is cleared when nothing was typed for five minutes', async () => {
  const { page } = await openDashboard(first.name);
  await page.clock.install();
  const secret = page.getByLabel('Secret');
  await secret.fill('whsec_a');
  await page.clock.fastForward('04:00');
  await secret.fill('whsec_b');
  await page.clock.fastForward('04:59');
  expect(await secret.inputValue()).toBe('whsec_b');
  await page.clock.fastForward('00:02');
  expect(await secret.inputValue()).toBe('');
  await page.getByText('What was secret has been cleared').waitFor({ state: 'attached' });
});

it('the form is cleared by its button, and when the page is left', async () => {
  const { page } = await openDashboard(first.name);
  const values = async () =>
    Promise.all(['Headers', 'Body', 'Secret'].map((label) => page.getByLabel(label).inputValue()));
  await verify(page, { headers: 'a: b', body: 'c', secret: 'd' });
  await page.getByRole('button', { name: 'Clear' }).click();
  expect(await values()).toEqual(['', '', '']);
  expect(await page.locator('#verify-result').textContent()).toBe('');
  await verify(page, { headers: 'a: b', body: 'c', secret: 'd' });
  await page.goto('about:blank');
  await page.goBack();
  expect(await values()).toEqual(['', '', '']);
});
