import type { APIGatewayProxyEvent } from 'aws-lambda';
import { allowListFormatNames, formatAllowList } from '../../../domain/allow-list';
import { fillPage } from '../../../lambda/serve-dashboard/fill-page';
import { createHandler } from '../../../lambda/serve-dashboard/handler';
import { dashboardPage } from '../../../lib/dashboard/page';
import { deprecatedFacts, facts } from '../../dashboard/facts';

const { html } = dashboardPage();
const textOf = (page: string) =>
  page.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
const filled = fillPage(html, facts);
const deprecated = textOf(fillPage(html, deprecatedFacts));

/** The body's text and attributes, without those for its look: a line for each block. */
const shown = (page: string) =>
  page
    .replace(/^.*<body>/s, '')
    .replaceAll(/<(style|script|pre)\b.*?<\/\1>/gs, '')
    .replaceAll(/ class="[^"]*"|<!--.*?-->|<\/\w+>|<\w+>/gs, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?<(?=(section|form|label|details|dt|dl|nav|footer|(div|p) (id|data))\b)/g, '\n<');

it('describes the environment and its contract, without a script', () => {
  expect(shown(filled)).toMatchSnapshot();
  const blocks = Array.from(filled.matchAll(/<pre\b[^>]*>(.*?)<\/pre>/gs), ([, block = '']) => textOf(block));
  const lists = allowListFormatNames.map((format) => formatAllowList(format, [facts]));
  const code = blocks.slice(-4);
  expect(blocks).toEqual([...lists, ...code]);
  // The guide's.
  const begin = ['createHmac(', 'def verify(', 'func Verify(', 'curl -i "$url"'];
  expect(code).toEqual(begin.map((text) => expect.stringContaining(text)));
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
  const changed = { environment: hostile, title: hostile, support, signatureHeaders: [hostile, hostile] };
  const page = fillPage(html, { ...facts, ...changed });
  expect(page).not.toContain('<script>alert');
  expect(page).not.toContain(`"'>`);
  expect(page.split('<script>')).toHaveLength(2);
  expect(textOf(page)).toContain(hostile);
});

it('returns the page with the configured headers', async () => {
  const handle = createHandler({ page: '<p>', headers: { 'Cache-Control': 'no-store' } });
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
  for (const [httpMethod, body] of Object.entries({ GET: '<p>', HEAD: '' }))
    expect(await handle({ httpMethod } as APIGatewayProxyEvent)).toEqual({ statusCode: 200, headers, body });
});
