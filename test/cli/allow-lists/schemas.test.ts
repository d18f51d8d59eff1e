import Ajv from 'ajv';
import { parse } from 'yaml';
import { formatAllowList } from '../../../cli/allow-lists/formats';
import { all, eu, reserving } from './origins';
import { type SchemaName, schemas } from './schemas';

const ajv = new Ajv({ strict: true, allErrors: true });
const names = Object.keys(schemas) as SchemaName[];
/** JSON is YAML, too. */
const read = (name: SchemaName, ...args: [Parameters<typeof formatAllowList>[1], object?]) =>
  parse(formatAllowList(name, ...args));

describe.each(names)('%s', (name) => {
  const validate = ajv.compile(schemas[name]);

  it.each([
    ['one environment', [eu], {}],
    ['all environments', all, {}],
    ['all environments with their reserves', reserving, {}],
    [
      'environments that share their addresses',
      reserving.map((origin) => ({ ...origin, address: '127.0.0.1', reserve: '127.0.0.2' })),
      {},
    ],
    ['the longest name and another port', all, { name: `a${'-b'.repeat(13)}c`, port: 65_535 }],
  ] as const)('fits its schema for %s', (_, origins, options) => {
    validate(read(name, origins, options));
    expect(validate.errors).toBeNull();
  });

  it('would not fit with an address that is none, nor with a property too many', () => {
    const text = formatAllowList(name, all);
    expect(validate(parse(text.replaceAll('203.0.113.7/32', '203.0.113.777/32')))).toBe(false);
    const document = parse(text);
    Object.assign(Array.isArray(document) ? document[0] : document, { surplus: true });
    expect(validate(document)).toBe(false);
  });
});

it.each(['json', 'aws-security-group', 'aws-waf', 'terraform', 'cloudflare', 'azure-nsg'] as const)(
  '%s is strict JSON',
  (name) => {
    expect(() => JSON.parse(formatAllowList(name, all))).not.toThrow();
  },
);

it('refuses everything else in Cloud Armor, last', () => {
  const rules = read('gcp-armor', all).rules;
  expect(rules.map(({ action }: { action: string }) => action)).toEqual([
    'allow',
    'allow',
    'allow',
    'deny(403)',
  ]);
  expect(rules.at(-1)).toMatchObject({ priority: 2_147_483_647, match: { config: { srcIpRanges: ['*'] } } });
});

it.each([
  ['gcp-armor', (document: { rules: { priority: number }[] }) => document.rules],
  [
    'azure-nsg',
    (document: { resources: { properties: { securityRules: { properties: { priority: number } }[] } }[] }) =>
      document.resources[0]?.properties.securityRules.map(({ properties }) => properties) ?? [],
  ],
] as const)('%s has every priority once', (name, rulesOf) => {
  const priorities = rulesOf(read(name, all)).map(({ priority }) => priority);
  expect(new Set(priorities).size).toBe(priorities.length);
  expect(priorities.length).toBeGreaterThanOrEqual(all.length);
});
