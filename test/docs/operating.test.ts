import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environments } from '../../lib/environments';
import { projectRoot } from '../architecture/sources';
import { synthesizeTemplates } from '../support/state-baseline';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const page = readFileSync(join(projectRoot, 'docs/operating.md'), 'utf8');
const table = /^\| Idle \|(?:.*\n)+?(?=\n)/m.exec(page)?.[0].trimEnd() ?? '';
const [header = [], , ...rows] = table.split('\n').map((line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll(/[`*]/g, '')),
);
const stacks = header.slice(2);

const templates = synthesizeTemplates(environments);
const hours = 730;
const all = (template: Json, type: string): Json[] =>
  Object.values<Json>(template.Resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties }) => Properties);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const capacityOf = (stack: string): number =>
  environments.find(({ stackId, standby }) => [stackId, standby?.stackId].includes(stack))?.database.capacity
    .minimum ?? Number.NaN;

/** Quantities of a month, from the template, except the minimum capacity, which is from the row. */
const quantities: Readonly<Record<string, (template: Json, stack: string) => number>> = {
  'Aurora capacity units, hours at the minimum': (template, stack) =>
    hours * all(template, 'AWS::RDS::DBInstance').length * capacityOf(stack),
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
    sum(
      all(template, 'AWS::CloudWatch::Alarm').map(
        ({ Metrics }) => Metrics?.filter(({ MetricStat }: Json) => MetricStat).length ?? 1,
      ),
    ),
  'Monitoring dashboards': (template) => all(template, 'AWS::CloudWatch::Dashboard').length,
};

it('the cost of an idle month has the quantities of the templates', () => {
  // The document's columns may lag behind the table's rows.
  const present = stacks.filter((stack) => templates[stack]);
  const documented = rows
    .slice(0, -1)
    .map(([line, , ...cells]) => [line, ...present.map((stack) => Number(cells[stacks.indexOf(stack)]))]);
  const expected = Object.entries(quantities).map(([line, quantity]) => [
    line,
    ...present.map((stack) => quantity(templates[stack], stack)),
  ]);
  expect(present).not.toEqual([]);
  expect(documented).toEqual(expected);
});

it('the cost of an idle month adds up', () => {
  const sums = stacks.map((_, index) =>
    sum(rows.slice(0, -1).map(([, price, ...cells]) => Number(price) * Number(cells[index]))).toFixed(2),
  );
  expect(rows.at(-1)?.slice(2)).toEqual(sums);
});
