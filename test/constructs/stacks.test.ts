import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { longestWait } from '../../lambda/migrate-schema/variables';
import { reviewed } from '../../lib/checks/residency/reviewed';
import { stacksOf } from '../../lib/environment/schema';
import { copyAssembly } from '../support/prepared-state';
import { disposable, restored, withoutSla } from '../support/rows';
import { type Resource, stackOf, stacksOfShapes, synthesizeEveryStack } from '../support/stacks';
import { environments } from '../support/table';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const every = stacksOfShapes();
const idsOf = (resources: readonly Resource[]) => resources.map(({ logicalId }) => logicalId);

describe.each(every)('%s', (_, stack) => {
  const { environment, listed, name, serves } = stack;

  it('has the tags of its environment, and only with a service level agreement protection, alarms and, if it serves, backups', () => {
    const { terminationProtection, tags } = listed;
    const hasAlarms = stack.all('AWS::CloudWatch::Alarm').length > 0;
    const hasBackups = stack.resources.some(({ Type }) => /Backup/.test(Type));
    const { serviceLevelAgreement } = environment;
    const agreed = serviceLevelAgreement ? 'yes' : 'no';
    const deprecated = String(environment.deprecation !== undefined);
    expect({ terminationProtection, hasAlarms, hasBackups, tags }).toEqual({
      terminationProtection: serviceLevelAgreement,
      hasAlarms: serviceLevelAgreement,
      hasBackups: serviceLevelAgreement && serves,
      tags: {
        service: 'wallet-infrastructure',
        environment: environment.name,
        'service-level-agreement': agreed,
        deprecated,
        'test-funds-only': String(environment.testFundsOnly),
        ...environment.tags,
      },
    });
    if (serves)
      expect(stack.json.Outputs).toMatchObject({
        ServiceLevelAgreement: { Value: agreed },
        Deprecated: { Value: deprecated },
      });
  });

  it('names no other stack or region', () => {
    for (const other of stacksOf(environment).filter(({ stackId }) => stackId !== name))
      expect(stack.text).not.toMatch(new RegExp(`\\b${other.stackId}\\b`));
    for (const { stackId, region } of environments.filter((row) => row.name !== environment.name))
      expect(stack.text).not.toMatch(new RegExp(`\\b(${stackId}|${region})\\b`));
  });

  it('has its subnets in the zones of the row, by name and in order, with ranges that never change', () => {
    const { zones, vpcCidr } = (!serves && environment.standby) || environment;
    const subnets = stack.all('AWS::EC2::Subnet');
    const used = subnets.map(({ Properties }) => Properties.AvailabilityZone);
    expect(used).toEqual(used.map((_, index) => zones[index % zones.length]));
    expect(new Set(used).size).toBe(zones.length);
    if (!vpcCidr.endsWith('.0.0/16')) return;
    const base = vpcCidr.replace('.0.0/16', '');
    // EC2 would replace a subnet, and what is in it, for another range.
    const ranges: Readonly<Record<string, (number: number) => string>> = {
      Public: (number) => `${base}.${number - 1}.0/24`,
      Private: (number) => `${base}.${16 * number}.0/20`,
      Isolated: (number) => `${base}.${48 + 16 * number}.0/20`,
    };
    for (const { logicalId, Properties } of subnets) {
      const [, kind = '', number] = /^NetworkVpc(\w+?)Subnet(\d)/.exec(logicalId) ?? [];
      expect([logicalId, Properties.CidrBlock]).toEqual([logicalId, ranges[kind]?.(Number(number))]);
    }
  });

  it('names the caller of each function, receives on no machine, and acknowledges no residency finding', () => {
    const permissions = stack.all('AWS::Lambda::Permission');
    expect(idsOf(permissions.filter(({ Properties }) => !Properties.SourceArn))).toEqual([]);
    expect(stack.text).not.toContain('WEBHOOK_LOCAL_RECEIVERS');
    expect(stack.json.Metadata).toBeUndefined();
  });
});

it('the migration may wait for a new database plus six minutes', () => {
  const { Timeout } = stackOf(disposable).named(
    'AWS::Lambda::Function',
    'SchemaMigrationMigrateSchema',
  ).Properties;
  expect(Timeout).toBeGreaterThanOrEqual(longestWait / 1_000 + 360);
});

it('every type and property that the residency rules let pass is in use: others would be ways out that nobody needs', () => {
  const ofSnapshot = stackOf(
    restored(withoutSla, { snapshot: `arn:aws:rds:${withoutSla.region}:1:cluster-snapshot:before` }),
  );
  const used = [...every.map(([, stack]) => stack), stackOf(disposable), ofSnapshot].flatMap(
    ({ resources }) =>
      resources.flatMap(({ Type, Properties = {} }) => [
        Type,
        ...Object.keys(Properties).map((name) => `${Type}.${name}`),
      ]),
  );
  expect(reviewed.filter((each) => !used.includes(each))).toEqual([]);
});

it('a disposable stack retains nothing, and makes nothing for the whole account', () => {
  const { resources } = stackOf(disposable);
  expect(resources.filter(({ DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete')).toEqual([]);
  expect(JSON.stringify(resources)).not.toMatch(/AWS::ApiGateway::Account|AccessLogSetting|AWS::Backup/);
  for (const { logicalId, Type, Properties } of resources)
    if (Type === 'AWS::KMS::Key') expect([logicalId, Properties.PendingWindowInDays]).toEqual([logicalId, 7]);
});

it('synthesis is deterministic: the same templates without the other rows, in a process without account, credentials or network settings, from the listed sources', async () => {
  const outdir = join(folder(), 'cdk.out');
  await copyAssembly(outdir);
  // Bundles contain the paths of files.
  const withoutDigests = (template: string) => template.replaceAll(/\b[0-9a-f]{64}\b/g, 'digest');
  for (const [name, { text }] of Object.entries(synthesizeEveryStack())) {
    const template = readFileSync(join(outdir, `${name}.template.json`), 'utf8');
    expect(withoutDigests(template)).toBe(withoutDigests(text));
  }
  const manifest = JSON.parse(readFileSync(join(outdir, 'manifest.json'), 'utf8'));
  expect(manifest.missing).toBeUndefined();
});
