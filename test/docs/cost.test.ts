import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Environment } from '../../lib/environment';
import { environments } from '../../lib/environments';
import { newcomer } from '../support/rows';
import { environmentsWithEveryOption } from '../support/stacks';
import { synthesizeTemplates } from '../support/state-baseline';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

const document = readFileSync(resolve(__dirname, '../../docs/cost.md'), 'utf8');
/** The ways to the database that the document reckons with, whatever the table has. */
const accesses: Readonly<Record<string, Environment['databaseAccess']>> = Object.fromEntries(
  Array.from(document.matchAll(/`(Wallet\w+)` (data-api|direct)\b/g), ([, stack, access]) => [stack, access]),
);
const templates = synthesizeTemplates(
  environments.map((environment) => ({
    ...environment,
    ...(accesses[environment.stackId] && { databaseAccess: accesses[environment.stackId] }),
  })),
);
const hours = 730;

/** Quantities of a month by the line's name. Capacity is the table's, everything else the template's. */
const quantities: Readonly<Record<string, (template: Json, stack: string) => number>> = {
  'Aurora capacity units, hours at the minimum': (template, stack) =>
    hours * all(template, 'AWS::RDS::DBInstance').length * minimumCapacity(stack),
  'NAT gateway, hours': (template) => hours * all(template, 'AWS::EC2::NatGateway').length,
  'Public IPv4 address, hours': (template) => hours * all(template, 'AWS::EC2::EIP').length,
  'Interface endpoint, hours in one zone': (template) =>
    hours * sum(all(template, 'AWS::EC2::VPCEndpoint').map(({ SubnetIds }) => SubnetIds.length)),
  'Web ACL': (template) => all(template, 'AWS::WAFv2::WebACL').length,
  'Rules and rule groups of the web ACL': (template) =>
    sum(all(template, 'AWS::WAFv2::WebACL').map(({ Rules }) => Rules.length)),
  'KMS keys': (template) => all(template, 'AWS::KMS::Key').length,
  Secrets: (template) => all(template, 'AWS::SecretsManager::Secret').length,
  'Metrics of alarms': (template) =>
    sum(all(template, 'AWS::CloudWatch::Alarm').map(({ Metrics }) => Metrics?.filter(isMetric).length ?? 1)),
  'Monitoring dashboards': (template) => all(template, 'AWS::CloudWatch::Dashboard').length,
};

describe('the idle table', () => {
  const rows = tableUnder('## Monthly cost when idle');
  const stacks = (rows[0] ?? []).slice(2, -1).map((cell) => cell.replaceAll('`', ''));
  const lines = rows.slice(1, -1);

  it('says with which way to the database it reckons, for every stack that serves', () => {
    const standbys = environments.map(({ standby }) => standby?.stackId);
    const serving = stacks.filter((stack) => templates[stack] && !standbys.includes(stack));
    expect(Object.keys(accesses)).toEqual(expect.arrayContaining(serving));
  });

  it('has the quantities of the templates, for the stacks that it reckons with and the table has', () => {
    const present = stacks.filter((stack) => templates[stack]);
    expect(present).not.toEqual([]);
    expect(
      lines.map(([line, , ...cells]) => [
        line,
        ...present.map((stack) => Number(cells[stacks.indexOf(stack)])),
      ]),
    ).toEqual(
      Object.entries(quantities).map(([line, quantity]) => [
        line,
        ...present.map((stack) => quantity(templates[stack], stack)),
      ]),
    );
  });

  it('adds up', () => {
    const sums = stacks.map((_, index) =>
      sum(lines.map(([, price, ...cells]) => Number(price) * Number(cells[index]))).toFixed(2),
    );
    expect(rows.at(-1)?.slice(2, -1)).toEqual(sums.map((each) => `**${each}**`));
  });
});

it.each(['## A million deletions over the API', '## A million webhooks'])('%s adds up', (heading) => {
  const rows = tableUnder(heading).slice(1);
  for (const column of [2, 3])
    expect(rows.at(-1)?.[column]).toBe(
      `**${sum(rows.slice(0, -1).map((row) => Number(row[column]))).toFixed(2)}**`,
    );
});

it('every line has its source', () => {
  const sources = new Set(tableUnder('## Sources').map(([number]) => number));
  const named = Array.from(document.matchAll(/\[\d+\]/g), ([number]) => number);
  expect(named.filter((number) => !sources.has(number))).toEqual([]);
});

it('every type of resource is named, as billed or as not', () => {
  const types = Object.values(synthesizeTemplates([...environmentsWithEveryOption(), newcomer]))
    .flatMap(({ Resources }) => Object.values(Resources).map(({ Type }: Json) => Type as string))
    .filter((type) => !type.startsWith('Custom::'));
  const [, resources = ''] = document.split('## Resources');
  const named = new Set(Array.from(resources.matchAll(/`(AWS::\w+::\w+)`/g), ([, type]) => type));
  expect([...named].sort()).toEqual([...new Set(types)].sort());
});

function all(template: Json, type: string): Json[] {
  return Object.values<Json>(template.Resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties }) => Properties);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const isMetric = ({ MetricStat }: Json) => MetricStat !== undefined;

function minimumCapacity(stack: string): number {
  const environment = environments.find(({ stackId, standby }) =>
    [stackId, standby?.stackId].includes(stack),
  );
  return environment?.database.capacity.minimum ?? Number.NaN;
}

/** The cells of the first table below a heading, its header first. */
function tableUnder(heading: string): string[][] {
  const [, section = ''] = document.split(`${heading}\n`);
  const lines = section.split('\n').filter((line, index, each) => {
    const start = each.findIndex((other) => other.startsWith('|'));
    const end = each.findIndex((other, at) => at > start && !other.startsWith('|'));
    return index >= start && index < end && !line.startsWith('|---');
  });
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
