import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { complete } from '../../support/rows';
import { type StackTemplate, synthesizeEveryStack } from '../../support/stacks';
import prices from './prices.json';

const hours = 730;
const months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

const propertiesOf = (stack: StackTemplate, type: string) => stack.all(type)[0]?.Properties;

/** What an idle stack has in a month, in each price's unit. */
const counts: Readonly<Record<keyof typeof prices.idle, (stack: StackTemplate) => number>> = {
  capacity(stack) {
    // An instance of the standby's is the row's choice: `standby.instances`.
    if (!stack.serves) return 0;
    const { MinCapacity, SecondsUntilAutoPause } = propertiesOf(
      stack,
      'AWS::RDS::DBCluster',
    ).ServerlessV2ScalingConfiguration;
    // A database that pauses wakes for the daily purge, at half a unit.
    const unitHours =
      MinCapacity > 0 ? MinCapacity * hours : ((hours / 24) * SecondsUntilAutoPause * 0.5) / 3_600;
    return Math.round(stack.all('AWS::RDS::DBInstance').length * unitHours);
  },
  gateway: (stack) => stack.all('AWS::EC2::NatGateway').length * hours,
  // The standby's is adopted: no resource.
  address: (stack) => Math.max(1, stack.all('AWS::EC2::EIP').length) * hours,
  endpoint: (stack) =>
    hours *
    stack
      .all('AWS::EC2::VPCEndpoint')
      .filter(({ Properties }) => Properties.VpcEndpointType === 'Interface')
      .flatMap(({ Properties }) => Properties.SubnetIds).length,
  acl: (stack) => stack.all('AWS::WAFv2::WebACL').length,
  rule: (stack) => stack.all('AWS::WAFv2::WebACL').flatMap(({ Properties }) => Properties.Rules).length,
  key: (stack) => stack.all('AWS::KMS::Key').length + stack.all('AWS::KMS::ReplicaKey').length,
  secret: (stack) => stack.all('AWS::SecretsManager::Secret').length,
  metric: (stack) =>
    stack
      .all('AWS::CloudWatch::Alarm')
      .flatMap(({ Properties }) => Properties.Metrics ?? [{ MetricStat: {} }])
      .filter((metric) => 'MetricStat' in metric).length,
  composite: (stack) => stack.all('AWS::CloudWatch::CompositeAlarm').length,
  dashboard: (stack) => stack.all('AWS::CloudWatch::Dashboard').length,
};

type Cells = readonly (string | number)[];
const table = (heading: Cells, ...rows: readonly Cells[]) => {
  const lines = [heading, ...rows].map((cells) => `| ${cells.join(' | ')} |`.replace(/\| {2}(?=\|)/g, '| '));
  return lines.toSpliced(1, 0, `|${'---|'.repeat(heading.length)}`).join('\n');
};

function idleTable(stacks: readonly StackTemplate[]): string {
  const lines = Object.entries(prices.idle).map(([unit, [label = '', ...its]]) => {
    return { label, its, counted: stacks.map(counts[unit as keyof typeof prices.idle]) };
  });
  const sums = ['US East', 'Frankfurt'].map((region, index) => {
    const costs = stacks.map((_, column) =>
      sum(lines.map(({ its, counted }) => Number(its[index]) * Number(counted[column]))),
    );
    return [`**Sum, ${region}**`, '', '', ...costs.map((cost) => `**${cost.toFixed(2)}**`)];
  });
  return table(
    ['Idle', 'US East', 'Frankfurt', ...stacks.map(({ name }) => `\`${name}\``)],
    ...lines.map(({ label, its, counted }) => [label, ...its, ...counted]),
    ...sums,
  );
}

function backupTable(stack: StackTemplate): string {
  const { ScheduleExpression } = propertiesOf(stack, 'AWS::Backup::RestoreTestingPlan');
  // `cron(0 8 1/3 * ? *)`: every third day, from the first of each month.
  const every = Number(/ 1\/(\d+) /.exec(ScheduleExpression)?.[1]);
  const drills = sum(months.map((days) => Math.ceil(days / every))) / 12;
  const stored = 10 * propertiesOf(stack, 'AWS::Backup::LogicallyAirGappedBackupVault').MaxRetentionDays;
  const { gigabyteMonth, restore } = prices.backups;
  const storage = (stored * gigabyteMonth).toFixed(2);
  return table(
    ['Air-gapped backups of 10 GB, kept for 35 days', 'Arithmetic', 'Cost'],
    ['storage, if each copy is a full one', `${stored} GB at ${gigabyteMonth}`, `up to ${storage}`],
    [
      'drills',
      `${drills.toFixed(2)} at [1.50](https://aws.amazon.com/backup/pricing/)`,
      (drills * restore).toFixed(2),
    ],
  );
}

function perMillionTable(): string {
  const { request, gigabyteSecond, label } = prices.functions;
  const rows = Object.entries(prices.perMillion).map(([what, { functions, said, parts }]) => {
    const time = sum(functions.map(([milliseconds = 0, gigabytes = 0]) => milliseconds * gigabytes * 1_000));
    const ofFunctions = [label, functions.length * request + time * gigabyteSecond, said] as const;
    const ofParts = parts.map(
      ([name, count, price, note]) => [name, Number(count) * Number(price), note] as const,
    );
    const all = [ofFunctions, ...ofParts].map(([name, cost, note]) => [name, cost.toFixed(2), note] as const);
    const total = sum(all.map(([, cost]) => Number(cost)));
    const ofDataApi = sum(parts.map(([, , price, , count]) => Number(count) * Number(price)));
    const text = all.map(([name, cost, note]) => `${name} ${cost}${note ? ` (${note})` : ''}`).join(', ');
    return [what, text, `${total.toFixed(2)}; with direct access ${(total - ofDataApi).toFixed(2)}`];
  });
  return table(['Per million', 'Arithmetic', 'Cost'], ...rows);
}

/** The page with its tables of costs, from the tests' own table, whose standby is of a complete row, and `prices.json`. */
export function withCosts(page: string): string {
  const completed = synthesizeEveryStack([complete])[complete.standby.stackId] as StackTemplate;
  const stacks = Object.values(synthesizeEveryStack()).map((each) => (each.serves ? each : completed));
  const [serving] = stacks as [StackTemplate];
  return [idleTable(stacks), backupTable(serving), perMillionTable()].reduce((text, made) => {
    const [, name] = made.split(' | ')[0]?.split('| ') ?? [];
    return text.replace(new RegExp(`^\\| ${name} \\|.*\\n(\\|.*\\n)+`, 'm'), () => `${made}\n`);
  }, page);
}

export const reference = join(__dirname, '../../../docs/reference.md');
if (require.main === module) writeFileSync(reference, withCosts(readFileSync(reference, 'utf8')));
