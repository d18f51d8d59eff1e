import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { example, rows, warnings } from '../../dashboard/content';
import { verify } from '../../dashboard/verify';
import { deprecatedFacts, facts } from './facts';

const read = (path: string) => readFileSync(join(__dirname, '../..', path), 'utf8');

it('describes the environment', () => {
  expect(rows(facts)).toEqual([
    ['Region', 'eu-central-1'],
    ['Data', 'Stored and processed only in eu-central-1 and eu-west-1'],
    ['Chains', 'mainnet and testnet. Broadcast transactions may be processed anywhere.'],
    ['SLA', 'Yes'],
  ]);
  const [, , chains, agreement] = rows(deprecatedFacts);
  expect(chains?.[1]).toContain('mainnet and testnet, with test funds only.');
  expect(agreement).toEqual(['SLA', 'None: no commitment to availability']);
});

it('warns about test funds, with their link to mainnet, and about a deprecation', () => {
  expect(warnings(facts)).toEqual([]);
  const deprecated = 'Deprecated since 20 November 2026: do not build anything new on it.';
  expect(warnings(deprecatedFacts)).toEqual([
    expect.stringMatching(/^Use test funds only: .* against the terms of use\.$/),
    `${deprecated} It will be switched off on 30 June 2027.`,
  ]);
  const testnet = { ...deprecatedFacts, chains: ['testnet'], deprecation: { since: '2026-11-20' } };
  expect(warnings(testnet)).toEqual(['Use test funds only.', deprecated]);
});

it("its example is the documentation's test vector, and verifies", async () => {
  const documented = read('docs/receivers.md');
  const values = [
    ...example.headers.split('\n').map((line) => line.split(': ')[1]),
    example.body,
    example.secret,
  ];
  for (const value of values) expect(documented).toContain(`\`${value}\``);
  const then = 1_795_176_005_000;
  expect(await verify(example, facts.signatureHeaders, then)).toMatchObject({ verdict: 'valid' });
});

it('the page contains every element that the script uses', () => {
  const html = read('dashboard/page.html');
  const taken = [
    ...Array.from(read('dashboard/page.ts').matchAll(/byId\('([\w-]+)'\)/g), ([, id]) => id),
    ...Array.from(html.matchAll(/data-copy="([\w-]+)"/g), ([, id]) => id),
  ];
  expect(taken.length).toBeGreaterThan(20);
  for (const id of taken) expect(html).toContain(` id="${id}"`);
});
