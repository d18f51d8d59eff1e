import type { APIGatewayProxyEvent } from 'aws-lambda';
import { allowListFormatNames, formatAllowList } from '../../../domain/allow-list';
import { retrySchedule } from '../../../domain/delivery';
import { fillPage } from '../../../lambda/serve-dashboard/fill-page';
import { createHandler } from '../../../lambda/serve-dashboard/handler';
import { dashboardPage } from '../../../lib/dashboard/page';
import { deprecatedFacts, facts } from '../../dashboard/facts';

const { html } = dashboardPage();
const textOf = (page: string) =>
  page.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
const filled = fillPage(html, facts);
const text = textOf(filled);
const deprecated = textOf(fillPage(html, deprecatedFacts));

it('describes the environment, and needs no script to', () => {
  for (const part of [
    'Europe, production',
    'eu-central-1',
    'Stored and processed only in eu-central-1 and eu-west-1',
    'mainnet and testnet. Broadcast transactions may be processed anywhere.',
    '203.0.113.7/32',
    '203.0.113.8/32',
    'https://api.eu.wallet-infrastructure.example',
    'UAE, production',
    'X-SVC-WEBHOOK-SIGNATURE and Svc-Signature have the same value',
  ])
    expect(text).toContain(part);
  expect(deprecated).toContain('mainnet and testnet, with test funds only.');
  expect(deprecated).toContain('None: no commitment to availability');
  expect(filled).toContain('href="mailto:webhooks@wallet-infrastructure.example"');
});

it.each(allowListFormatNames)('contains the allow-list as %s', (format) => {
  expect(text).toContain(formatAllowList(format, [facts]));
});

it.each(['createHmac(', 'def verify(', 'func Verify(', 'curl -i "$url"'])(
  'contains the guide’s code with %s',
  (code) => expect(text).toContain(code),
);

it('warns about test funds, with their link to mainnet, and about a deprecation', () => {
  expect(filled).not.toContain('role="note"');
  expect(deprecated).toMatch(/Use test funds only: .* against the terms of use\./);
  const notice = 'Deprecated since 20 November 2026: do not build anything new on it.';
  expect(deprecated).toContain(`${notice} It will be switched off on 30 June 2027.`);
  const testnet = { ...deprecatedFacts, chains: ['testnet'], deprecation: { since: '2026-11-20' } };
  expect(textOf(fillPage(html, testnet))).toMatch(
    /Use test funds only\.\s*Deprecated since 20 November 2026/,
  );
});

it('draws every attempt to scale', () => {
  const dots = Array.from(filled.matchAll(/<circle cx="([\d.]+)%" cy="(\d+)"/g), ([, x, y]) => [x, y]);
  const on = (length: number, y: string) =>
    retrySchedule.filter((time) => time <= length).map((time) => [(2 + (96 * time) / length).toFixed(2), y]);
  expect(dots).toEqual([...on(72 * 3_600_000, '36'), ...on(3_600_000, '112')]);
  const titles = Array.from(filled.matchAll(/<title>(Attempt .*?)<\/title>/g), ([, title]) => title);
  expect(titles).toContain('Attempt 5: 1 min 15 s');
  expect(titles).toContain(`Attempt ${retrySchedule.length}: 71 h 22 min`);
});

it('is smaller than 60 KB', () => {
  expect(Buffer.byteLength(filled)).toBeLessThan(60_000);
});

it('escapes every fact, in text and in attributes', () => {
  const hostile = `"'><script>alert(1)</script>{{title}}$&`;
  const support = { contact: hostile, guide: hostile };
  const others = [{ environment: hostile, title: hostile, url: hostile }];
  const page = fillPage(html, {
    ...facts,
    ...{ environment: hostile, title: hostile, support, others, signatureHeaders: [hostile, hostile] },
  });
  expect(page).not.toContain('<script>alert');
  expect(page).not.toContain(`"'>`);
  expect(page.split('<script>')).toHaveLength(2);
  expect(textOf(page)).toContain(hostile);
});

it.each([
  ['another part than there is', `${html}{{nothing}}`, 'asks for {{nothing}}'],
  ['one part less', html.replaceAll('{{title}}', ''), 'has no {{title}}'],
])('refuses a page with %s', (_, page, message) => {
  expect(() => fillPage(page, facts)).toThrow(message);
});

it('returns the page with the configured headers', async () => {
  const handle = createHandler({ page: '<p>', headers: { 'Cache-Control': 'no-store' } });
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
  expect(await handle({} as APIGatewayProxyEvent)).toEqual({ statusCode: 200, headers, body: '<p>' });
});
