import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validateEnvironments } from '../../lib/environment/rules';
import { type Environment, inForce, type RestoreSource } from '../../lib/environment/schema';
import {
  complete,
  promotedForGood,
  restored,
  returned,
  serving,
  shapes,
  withDirectAccess,
  withoutSla,
  withStandby,
} from '../support/rows';
import { type Resource, type StackTemplate, stackOf, synthesizeEveryStack } from '../support/stacks';

/** Properties whose change means another resource, of the types with state. */
const fixedProperties: Readonly<Record<string, string>> = {
  'AWS::Backup::LogicallyAirGappedBackupVault':
    'BackupVaultName EncryptionKeyArn MaxRetentionDays MinRetentionDays',
  'AWS::EC2::EIP': 'Address Domain PublicIpv4Pool',
  'AWS::KMS::Key': 'KeySpec KeyUsage MultiRegion Origin',
  'AWS::KMS::ReplicaKey': 'PrimaryKeyArn',
  'AWS::RDS::DBCluster': `DBClusterIdentifier DBSubnetGroupName DatabaseName Engine EngineMode GlobalClusterIdentifier KmsKeyId
    MasterUsername RestoreToTime SnapshotIdentifier SourceDBClusterIdentifier StorageEncrypted`,
  'AWS::RDS::GlobalCluster': 'Engine GlobalClusterIdentifier SourceDBClusterIdentifier StorageEncrypted',
  'AWS::SQS::Queue': 'FifoQueue QueueName',
  'AWS::SecretsManager::Secret': 'Name',
};

const isRetained = (policy = 'Delete') => policy !== 'Delete';

/** Retained resources: a line for each, with its type and the properties that cannot change without replacement. */
const stateOf = ({ name, resources }: Pick<StackTemplate, 'name' | 'resources'>) =>
  resources
    .filter(({ DeletionPolicy, UpdateReplacePolicy }) =>
      [DeletionPolicy, UpdateReplacePolicy].every(isRetained),
    )
    .flatMap(({ logicalId, Type, Properties }) => {
      const fixed = fixedProperties[Type]?.split(/\s+/).map((property) => [property, Properties?.[property]]);
      return fixed ? [`${name} ${logicalId} ${Type} ${JSON.stringify(Object.fromEntries(fixed))}`] : [];
    });

it('no stack replaces or releases its state, or adds state that state-baseline.txt lacks', () => {
  // Of rows with everything that they may record.
  const stacks = Object.values(synthesizeEveryStack([complete, withDirectAccess, withoutSla]));
  const baseline = readFileSync(join(__dirname, 'state-baseline.txt'), 'utf8');
  expect(`${stacks.flatMap(stateOf).sort().join('\n')}\n`).toBe(baseline);
});

it.each<[id: string, change: Partial<Resource>]>([
  ['DatabaseCluster', { Properties: { SnapshotIdentifier: 'x' } }],
  ['WebhookEventsQueue', { Type: 'AWS::SNS::Topic' }],
  ['WebhookOriginElasticIp', { DeletionPolicy: 'Delete' }],
  ['WebhookOriginElasticIp', { UpdateReplacePolicy: 'Delete' }],
])('a template must not replace or release %s by %j', (id, { Properties, ...change }) => {
  const original = before.get(id);
  const stateWith = (more: Partial<Resource>) =>
    stateOf({ name: before.name, resources: [{ ...original, ...more }] });
  const others = { ...original.Properties, BackupRetentionPeriod: 30 };
  expect(stateWith({ Properties: others })).toEqual(stateWith({}));
  expect(stateWith({ ...change, Properties: { ...others, ...Properties } })).not.toEqual(stateWith({}));
});

const { restoreFrom: time = {} } = shapes.restored?.database ?? {};
const snapshot = { snapshot: `arn:aws:rds:${withoutSla.region}:1:cluster-snapshot:before` };

/** `LogicalId.Property` of each difference, including resource attributes. */
function differences(...stacks: readonly [one: StackTemplate, other: StackTemplate]): string[] {
  const [old, restoring] = stacks.map(({ resources }) => {
    const values = resources.flatMap(({ logicalId, Properties, ...attributes }) =>
      Object.entries({ ...attributes, ...Properties }).map(
        ([name, value]) => [`${logicalId}.${name}`, JSON.stringify(value)] as const,
      ),
    );
    return new Map(values);
  }) as [Map<string, string>, Map<string, string>];
  return [...new Map([...old, ...restoring]).keys()].filter((key) => old.get(key) !== restoring.get(key));
}

it.each<[string, Environment, RestoreSource, string[]]>([
  ['a protected cluster, to a point in time', complete, time, ['SourceDBClusterIdentifier', 'RestoreToTime']],
  ['an unprotected cluster, from a snapshot', withoutSla, snapshot, ['SnapshotIdentifier']],
])('restoring %s changes only it and its logs, retains both, and migrates', (_, row, source, changes) => {
  const [old, restoring] = [stackOf(row), stackOf(restored(row, source))];
  const found = differences(old, restoring)
    .filter((each) => !each.endsWith('.UpdateReplacePolicy'))
    .map((each) => each.replace(/^(SchemaMigration)\w{8}/, '$1'));
  const logs = restoring
    .all('AWS::Logs::LogGroup')
    .filter(({ logicalId }) => logicalId.startsWith('DatabaseLog'));
  const ofCluster = ['DBClusterIdentifier', 'DatabaseName', 'MasterUsername', ...changes];
  const expected = [
    ...ofCluster.map((name) => `DatabaseCluster.${name}`),
    ...logs.map(({ logicalId }) => `${logicalId}.LogGroupName`),
    ...(row.standby ? ['DatabaseGlobalCluster.GlobalClusterIdentifier'] : []),
    'SchemaMigration.ContentHash',
  ];
  expect(found.sort()).toEqual(expected.sort());
  const others = restoring.resources.filter(({ Type }) =>
    /::(DBCluster|DBInstance|GlobalCluster)$/.test(Type),
  );
  for (const { UpdateReplacePolicy, Properties } of [...logs, ...others]) {
    expect(UpdateReplacePolicy).toBe('Retain');
    // With a fixed name, the new instance could not be created beside the old one.
    expect(Properties).not.toHaveProperty('DBInstanceIdentifier');
  }
});

const standbyOf = (row: Environment) =>
  synthesizeEveryStack([row])[withStandby.standby.stackId] as StackTemplate;
const [before, promoted] = [stackOf(complete), stackOf(serving(complete))];

it('a standby follows the stack with its primary, and has no instance, serving resource, or route to or from the internet', () => {
  const { dependencies, resources } = standbyOf(withStandby);
  expect(dependencies).toContain(withStandby.stackId);
  const types = resources.map(({ Type }) => Type);
  const others = types.filter((type) => !/^AWS::(EC2|RDS|KMS|IAM|Logs|SNS|CloudWatch)::/.test(type));
  expect(others.sort()).toEqual(['AWS::Lambda::Function', 'Custom::VpcRestrictDefaultSG']);
  expect(types.filter((type) => /DBInstance|EIP|Gateway|Route$|Endpoint|Ingress/.test(type))).toEqual([]);
});

it('a promotion updates the cluster in place, and replaces or removes nothing', () => {
  const prepared = standbyOf(complete);
  const isOfBoth = (change: string) =>
    prepared.resources.some(({ logicalId: id, Type }) => change.startsWith(`${id}.`) && !/Alarm/.test(Type));
  // promises.test.ts has the policies of both.
  const changes = differences(prepared, promoted)
    .filter(isOfBoth)
    .filter((each) => !/Policy$/.test(each));
  // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbcluster.html
  expect(changes.sort()).toEqual([
    'DatabaseCluster.DeletionProtection',
    'DatabaseCluster.EnableGlobalWriteForwarding',
    'DatabaseCluster.EnableHttpEndpoint',
    'DatabaseCluster.EnableIAMDatabaseAuthentication',
    'DatabaseCluster.MasterUserPassword',
    'DatabaseCluster.PerformanceInsightsEnabled',
    'DatabaseCluster.PerformanceInsightsKmsKeyId',
    'DatabaseCluster.PerformanceInsightsRetentionPeriod',
  ]);
});

it('the standby of a restored cluster joins its new global database under its old name', () => {
  const row = restored(complete, time);
  const [former, present] = [complete, row].map((each) => standbyOf(each).get('DatabaseCluster').Properties);
  expect(row.standby?.globalClusterIdentifier).not.toBe(complete.standby.globalClusterIdentifier);
  expect(present.GlobalClusterIdentifier).toBe(row.standby?.globalClusterIdentifier);
  expect(present.DBClusterIdentifier).toEqual(former.DBClusterIdentifier);
});

it('a promotion by the word gives the row of its permanent form without the stack that served, and a return its keys and address', () => {
  const { former, ...row } = inForce(serving(complete));
  expect(row).toEqual(promotedForGood);
  expect(former?.stackId).toBe(complete.stackId);
  expect(Object.keys(synthesizeEveryStack([serving(complete)]))).toEqual([complete.standby.stackId]);
  const { adoptedKeys, adoptedElasticIp } = inForce(serving(returned));
  expect([adoptedKeys, adoptedElasticIp?.address]).toEqual([complete.standby.keys, complete.originAddress]);
});

it('a promotion after a restore takes the replica of the restored cluster, and restores nothing', () => {
  const row = serving(restored(complete, time));
  const { database } = complete;
  expect(inForce(row).database).toEqual({ ...database, replicaOf: row.standby.globalClusterIdentifier });
  // It would restore the stack that nobody can reach.
  const restoreFrom = { cluster: 'other', time: '2026-11-22T10:30:00Z' };
  const late: Environment = { ...row, database: { ...row.database, restoreFrom } };
  expect(() => validateEnvironments([late])).toThrow('Undo the change of database.restoreFrom');
});

it('a promotion swaps the address and its reserve: a delivery from there is an alarm before, and none after', () => {
  const { address = '' } = complete.standby.adoptedElasticIp ?? {};
  const found = [before, promoted].map((each) => {
    const check = each.named('AWS::Lambda::Function', 'CheckDelivery').Properties.Environment.Variables;
    return [JSON.stringify(check.PUBLISHED_ADDRESSES).includes(address), check.FORMER_ADDRESS];
  });
  expect(found).toEqual([
    [false, 'none'],
    [true, complete.originAddress],
  ]);
});

it('a promotion adds all resources of a serving region, and keeps the replicated owner', () => {
  // Without a standby, it has no global database of its own, and no alarm on the replication; its address exists.
  const others = /^DatabaseGlobalCluster$|databasereplication|ginElasticIp$/;
  const typesOf = ({ resources }: StackTemplate) =>
    resources
      .filter(({ logicalId }) => !others.test(logicalId))
      .map(({ Type }) => Type.replace('ReplicaKey', 'Key'))
      .sort();
  expect(typesOf(promoted)).toEqual(typesOf(before));
  const { GenerateSecretString } = promoted.get('DatabaseMasterSecret').Properties;
  const username = before.get('DatabaseCluster').Properties.MasterUsername;
  expect(JSON.parse(GenerateSecretString.SecretStringTemplate)).toEqual({ username });
});
