import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseRoles } from '../../lambda/database/variables';
import { longestWait } from '../../lambda/migrate-schema/variables';
import { reviewed } from '../../lib/checks/residency/reviewed';
import { certificateAuthorities } from '../../lib/database/database';
import { stacksOf } from '../../lib/environment/schema';
import { copyAssembly } from '../support/prepared-state';
import { disposable, restored, withOtherOptions, withoutSla } from '../support/rows';
import { type Json, type Resource, stackOf, stacksOfShapes, synthesizeEveryStack } from '../support/stacks';
import { environments } from '../support/table';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const every = stacksOfShapes();
const idsOf = (resources: readonly Resource[]) => resources.map(({ logicalId }) => logicalId);
/** Services that act with a function's role from outside its network, and signing in, for which the function makes a token. */
const notCalled = ['logs', 'ec2', 'rds-db'];
const group = (reference: Json): string => reference['Fn::GetAtt'][0];

describe.each(every)('%s', (_, stack) => {
  const { environment, listed, name, serves } = stack;
  const { zones, vpcCidr } = (!serves && environment.standby) || environment;

  it('has the tags of its environment, and only with a service level agreement protection, alarms and, if it serves, backups', () => {
    const { name, serviceLevelAgreement: agreed, deprecation, testFundsOnly, tags } = environment;
    const has = (type: RegExp) => stack.resources.some(({ Type }) => type.test(Type));
    const found = [listed.terminationProtection, has(/::Alarm$/), has(/Backup/)];
    expect(found).toEqual([agreed, agreed, agreed && serves]);
    const agreement = agreed ? 'yes' : 'no';
    const deprecated = String(deprecation !== undefined);
    expect(listed.tags).toEqual({
      service: 'wallet-infrastructure',
      environment: name,
      'service-level-agreement': agreement,
      deprecated,
      'test-funds-only': String(testFundsOnly),
      ...tags,
    });
    const outputs = { ServiceLevelAgreement: { Value: agreement }, Deprecated: { Value: deprecated } };
    if (serves) expect(stack.json.Outputs).toMatchObject(outputs);
  });

  it('names no other stack or region', () => {
    for (const other of stacksOf(environment).filter(({ stackId }) => stackId !== name))
      expect(stack.text).not.toMatch(new RegExp(`\\b${other.stackId}\\b`));
    for (const { stackId, region } of environments.filter((row) => row.name !== environment.name))
      expect(stack.text).not.toMatch(new RegExp(`\\b(${stackId}|${region})\\b`));
  });

  it('has its subnets in the zones of the row, by name and in order, with ranges that never change', () => {
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

  it("has its instances in different zones, only the row's database access, and ARNs that the Data API takes", () => {
    const { database, databaseAccess, standby } = environment;
    const instances = serves ? 1 + database.readers : (standby?.instances ?? 0);
    const isDirect = databaseAccess === 'direct';
    const used = stack.all('AWS::RDS::DBInstance').map(({ Properties }) => Properties.AvailabilityZone);
    expect(used).toEqual(zones.slice(0, instances));
    const ingress = idsOf(stack.all('AWS::EC2::SecurityGroupIngress'));
    expect(ingress.filter((id) => id.startsWith('DatabaseCluster'))).toHaveLength(serves && isDirect ? 1 : 0);
    const secrets = idsOf(stack.all('AWS::SecretsManager::Secret'));
    expect(secrets).toHaveLength(serves ? 1 + (isDirect ? 0 : databaseRoles.length) : 0);
    // At most 100 characters, as CloudFormation and Secrets Manager generate them.
    const prefix = `arn:aws:secretsmanager:${listed.region}:123456789012:secret:`;
    for (const id of secrets) expect(`${prefix}${id}-R7aao5xJupze-Lkf02d`.slice(100)).toBe('');
  });

  it('names the caller of each function, receives on no machine, and acknowledges no residency finding', () => {
    const permissions = stack.all('AWS::Lambda::Permission');
    expect(idsOf(permissions.filter(({ Properties }) => !Properties.SourceArn))).toEqual([]);
    expect(stack.text).not.toContain('WEBHOOK_LOCAL_RECEIVERS');
    expect(stack.json.Metadata).toBeUndefined();
  });
});

const serving = every.filter(([, stack]) => stack.serves);
it.each(serving)('each function in the VPC of %s reaches everything that it calls', (_, stack) => {
  const { VpcSecurityGroupIds, Port } = stack.only('AWS::RDS::DBCluster').Properties;
  const inVpc = stack.all('AWS::Lambda::Function').filter(({ Properties }) => Properties.VpcConfig);
  expect(inVpc).not.toEqual([]);
  /** Whether one of the targets' security groups admits one of the function's. */
  const admits = (targets: Json[], { Properties }: Resource, port: number): boolean =>
    stack
      .all('AWS::EC2::SecurityGroupIngress')
      .map((ingress) => ingress.Properties)
      .filter(({ GroupId, FromPort }) => targets.map(group).includes(group(GroupId)) && FromPort === port)
      .some(({ SourceSecurityGroupId: source }) =>
        Properties.VpcConfig.SecurityGroupIds.map(group).includes(group(source)),
      );
  for (const lambda of inVpc) {
    const { logicalId, Properties } = lambda;
    if (Properties.Environment.Variables.DATABASE_HOST)
      expect([logicalId, admits(VpcSecurityGroupIds, lambda, Port)]).toEqual([logicalId, true]);
    // The private subnets' routes lead everywhere.
    if (!JSON.stringify(Properties.VpcConfig.SubnetIds).includes('IsolatedSubnet')) continue;
    const reachable = stack
      .all('AWS::EC2::VPCEndpoint')
      .filter((endpoint) => admits(endpoint.Properties.SecurityGroupIds, lambda, 443))
      .map((endpoint) => endpoint.Properties.ServiceName.split('.').at(-1));
    const called = stack
      .statementsOf(lambda)
      // `kms:ViaService`: Secrets Manager decrypts on the function's behalf.
      .filter(({ Effect, Condition }) => Effect === 'Allow' && !Condition)
      .flatMap(({ Action }) => Action)
      .map((action: string) => action.split(':')[0] as string)
      .filter((service) => !notCalled.includes(service));
    expect([logicalId, ...new Set(called)]).toEqual([logicalId, ...reachable]);
  }
});

it('creates no Elastic IP beside existing ones', () => {
  expect(stackOf(withOtherOptions).all('AWS::EC2::EIP')).toEqual([]);
});

it("bundles the region's own three root certificates, valid for decades", () => {
  for (const { region } of environments) {
    const roots = certificateAuthorities({ name: 'any', region })
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .map((pem) => new X509Certificate(pem));
    expect(roots).toHaveLength(3);
    for (const root of roots) {
      expect(root.subject).toContain(`Amazon RDS ${region} Root CA`);
      expect(root.ca && root.verify(root.publicKey)).toBe(true);
      expect(new Date(root.validTo).getUTCFullYear()).toBeGreaterThan(2060);
    }
  }
});

it('the migration may wait for a new database plus six minutes', () => {
  const migration = stackOf(disposable).named('AWS::Lambda::Function', 'SchemaMigrationMigrateSchema');
  expect(migration.Properties.Timeout).toBeGreaterThanOrEqual(longestWait / 1_000 + 360);
});

it('every type and property that the residency rules let pass is in use: others would be ways out that nobody needs', () => {
  const snapshot = `arn:aws:rds:${withoutSla.region}:1:cluster-snapshot:before`;
  const others = [disposable, restored(withoutSla, { snapshot })].map(stackOf);
  const stacks = [...every.map(([, stack]) => stack), ...others];
  const used = stacks.flatMap(({ resources }) =>
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
