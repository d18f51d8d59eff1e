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

it.each([
  'Stored and processed only in eu-central-1 and eu-west-1',
  'mainnet and testnet. Broadcast transactions may be processed anywhere.',
  'https://api.eu.wallet-infrastructure.example',
  'X-SVC-WEBHOOK-SIGNATURE and Svc-Signature have the same value',
  'Receive webhooks from Europe Production',
  '203.0.113.8/32203.0.113.9/32',
  '99.9% availability',
  `${retrySchedule.length} attempts, each`,
  '50:01:15',
  `${retrySchedule.length}71:22:35`,
  ...allowListFormatNames.map((format) => formatAllowList(format, [facts])),
  // The guide's code.
  ...['createHmac(', 'def verify(', 'func Verify(', 'curl -i "$url"'],
])('describes the environment, without a script: %s', (part) => expect(text).toContain(part));

it('warns about test funds, with their link to mainnet, and about a deprecation', () => {
  expect(deprecated).toContain('Receive webhooks from Staging Deprecated');
  expect(deprecated).toContain('mainnet and testnet, with test funds only.');
  expect(deprecated).toContain('None: no commitment to availability');
  expect(deprecated).toMatch(/Use test funds only: .* against the terms of use\./);
  const notice = 'Deprecated since 20 November 2026: do not build anything new on it.';
  expect(deprecated).toContain(`${notice} It will be switched off on 30 June 2027.`);
  expect(filled).not.toContain('role="note"');
  expect(filled).toContain('href="mailto:webhooks@wallet-infrastructure.example"');
});

it('escapes every fact, in text and in attributes', () => {
  const hostile = `"'><script>alert(1)</script>{{title}}$&`;
  const support = { contact: hostile, guide: hostile };
  const page = fillPage(html, {
    ...facts,
    ...{ environment: hostile, title: hostile, support, signatureHeaders: [hostile, hostile] },
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
