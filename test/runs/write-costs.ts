import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { complete } from '../support/rows';
import { type StackTemplate, synthesizeEveryStack } from '../support/stacks';

const hours = 730;
const count = (type: string) => (stack: StackTemplate) => stack.all(type).length;

/** What an idle stack has in a month, by the beginning of the row's label, in the unit of its prices. */
const counts: Readonly<Record<string, (stack: StackTemplate) => number>> = {
  '[Aurora]'(stack) {
    // An instance of the standby's is the row's choice: `standby.instances`.
    if (!stack.serves) return 0;
    const cluster = stack.only('AWS::RDS::DBCluster').Properties;
    const { MinCapacity, SecondsUntilAutoPause } = cluster.ServerlessV2ScalingConfiguration;
    // A database that pauses wakes for the daily purge, at half a unit.
    const unitHours =
      MinCapacity > 0 ? MinCapacity * hours : ((hours / 24) * SecondsUntilAutoPause * 0.5) / 3_600;
    return Math.round(stack.all('AWS::RDS::DBInstance').length * unitHours);
  },
  '[NAT gateway]': (stack) => stack.all('AWS::EC2::NatGateway').length * hours,
  // The standby's is adopted: no resource.
  'Public IPv4 address': (stack) => Math.max(1, stack.all('AWS::EC2::EIP').length) * hours,
  '[Interface endpoint]': (stack) =>
    hours *
    stack
      .all('AWS::EC2::VPCEndpoint')
      .filter(({ Properties }) => Properties.VpcEndpointType === 'Interface')
      .flatMap(({ Properties }) => Properties.SubnetIds).length,
  '[Web ACL]': count('AWS::WAFv2::WebACL'),
  Rules: (stack) => stack.all('AWS::WAFv2::WebACL').flatMap(({ Properties }) => Properties.Rules).length,
  '[KMS]': (stack) => stack.all('AWS::KMS::Key').length + stack.all('AWS::KMS::ReplicaKey').length,
  '[Secrets]': count('AWS::SecretsManager::Secret'),
  '[Metrics]': (stack) =>
    stack
      .all('AWS::CloudWatch::Alarm')
      .flatMap(({ Properties }) => Properties.Metrics ?? [{ MetricStat: {} }])
      .filter((metric) => 'MetricStat' in metric).length,
  Composite: count('AWS::CloudWatch::CompositeAlarm'),
  Monitoring: count('AWS::CloudWatch::Dashboard'),
};

/**
 * The page with its table of idle costs: the counts are those of the tests' own table, whose standby is of a complete row; the
 * prices stay. @throws Error for a row that nothing counts
 */
export function withCosts(page: string): string {
  const completed = synthesizeEveryStack([complete])[complete.standby.stackId] as StackTemplate;
  const stacks = Object.values(synthesizeEveryStack()).map((each) => (each.serves ? each : completed));
  const sums = [stacks.map(() => 0), stacks.map(() => 0)];
  const line = (...cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const [head = '', under = '', ...rows] = /^\| Idle .*\n(\|.*\n)+/m.exec(page)?.[0].split('\n') ?? [];
  const made = rows.flatMap((row) => {
    const [, label = '', ...prices] = row.split(/ ?\| ?/).slice(0, 4);
    if (!row.startsWith('| ') || label.startsWith('**Sum')) return [];
    const counted = Object.entries(counts).find(([beginning]) => label.startsWith(beginning))?.[1];
    if (!counted) throw new Error(`Nothing counts "${label}".`);
    const cells = stacks.map(counted);
    for (const [index, price] of prices.entries())
      sums[index] = cells.map((cell, column) => cell * Number(price) + (sums[index]?.[column] ?? 0));
    return line(label, ...prices, ...cells);
  });
  const last = ['US East', 'Frankfurt'].map((region, index) => {
    const costs = sums[index]?.map((cost) => `**${cost.toFixed(2)}**`) ?? [];
    return `| **Sum, ${region}** | | ${line(...costs)}`;
  });
  const table = [head, under, ...made, ...last, ''].join('\n');
  return page.replace([head, under, ...rows].join('\n'), () => table);
}

export const reference = join(__dirname, '../../docs/reference.md');
if (require.main === module) writeFileSync(reference, withCosts(readFileSync(reference, 'utf8')));
