import type { APIGatewayProxyEvent } from 'aws-lambda';
import { allowListFormatNames, formatAllowList } from '../../../domain/allow-list';
import { fillPage } from '../../../lambda/serve-dashboard/fill-page';
import { createHandler } from '../../../lambda/serve-dashboard/handler';
import { dashboardPage } from '../../../lib/dashboard/page';
import { deprecatedFacts, facts } from '../../dashboard/facts';

const { html } = dashboardPage();
const textOf = (page: string) =>
  page.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
const wordsOf = (page: string) => textOf(page.replaceAll('<', ' <')).replaceAll(/\s+/g, ' ');
const filled = fillPage(html, facts);
const deprecated = wordsOf(fillPage(html, deprecatedFacts));

it('shows each fact, the allow-list in each format and the code, without a script', () => {
  for (const shown of [
    'Receive webhooks from Europe Production',
    '203.0.113.7/32 Allow now too, for an announced emergency: 203.0.113.8/32 203.0.113.9/32',
    'X-SVC-WEBHOOK-SIGNATURE and Svc-Signature have the same value.',
    '1 0:00:00 2 0:00:05',
    '24 71:22:35',
    'Environment eu Region eu-central-1 Data Stored and processed only in eu-central-1 and eu-west-1',
    'Chains mainnet and testnet. Broadcast',
    '99.9% availability',
    facts.apiBaseUrl,
    facts.support.contact,
  ])
    expect(wordsOf(filled)).toContain(shown);
  const blocks = Array.from(filled.matchAll(/<pre\b[^>]*>(.*?)<\/pre>/gs), ([, block = '']) => textOf(block));
  expect(blocks).toEqual([
    ...allowListFormatNames.map((format) => formatAllowList(format, [facts])),
    // The guide's.
    ...['createHmac(', 'def verify(', 'func Verify(', 'curl -i "$url"'].map((code) =>
      expect.stringContaining(code),
    ),
  ]);
});

it('warns about test funds, with their link to mainnet, and about a deprecation', () => {
  expect(deprecated).toContain('Receive webhooks from Staging Deprecated');
  expect(deprecated).toContain('mainnet and testnet, with test funds only.');
  expect(deprecated).toContain('None: no commitment to availability');
  expect(deprecated).toMatch(/Use test funds only: .* against the terms of use\./);
  const notice = 'Deprecated since 20 November 2026: do not build anything new on it.';
  expect(deprecated).toContain(`${notice} It will be switched off on 30 June 2027.`);
});

it('escapes every fact, in text and in attributes', () => {
  const hostile = `"'><script>alert(1)</script>{{title}}$&`;
  const support = { contact: hostile, guide: hostile };
  const page = fillPage(html, {
    ...facts,
    environment: hostile,
    title: hostile,
    support,
    signatureHeaders: [hostile, hostile],
  });
  expect(page).not.toContain('<script>alert');
  expect(page).not.toContain(`"'>`);
  expect(page.split('<script>')).toHaveLength(2);
  expect(textOf(page)).toContain(hostile);
});

it('returns the page with the configured headers', async () => {
  const handle = createHandler({ page: '<p>', headers: { 'Cache-Control': 'no-store' } });
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
  for (const [httpMethod, body] of [
    ['GET', '<p>'],
    ['HEAD', ''],
  ])
    expect(await handle({ httpMethod } as APIGatewayProxyEvent)).toEqual({ statusCode: 200, headers, body });
});
