import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment, RestoreSource } from '../../lib/environment/schema';
import { complete, restored, serving, shapes, withDirectAccess, withoutSla } from '../support/rows';
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
const stateOf = (resources: readonly Resource[]) =>
  resources
    .filter(({ DeletionPolicy, UpdateReplacePolicy }) =>
      [DeletionPolicy, UpdateReplacePolicy].every(isRetained),
    )
    .flatMap(({ logicalId, Type, Properties }) => {
      const fixed = fixedProperties[Type]?.split(/\s+/).map((name) => [name, Properties?.[name]]);
      return fixed ? [`${logicalId} ${Type} ${JSON.stringify(Object.fromEntries(fixed))}`] : [];
    });

/** Of rows with everything that they may record; before each line, its stack. */
const found = Object.values(synthesizeEveryStack([complete, withDirectAccess, withoutSla])).flatMap(
  ({ name, resources }) => stateOf(resources).map((line) => `${name} ${line}`),
);

it('no stack replaces or releases its state, or adds state that state-baseline.txt lacks', () => {
  const baseline = readFileSync(join(__dirname, 'state-baseline.txt'), 'utf8');
  expect(`${found.toSorted().join('\n')}\n`).toBe(baseline);
});

it.each<[id: string, change: Partial<Resource>]>([
  ['DatabaseCluster', { Properties: { SnapshotIdentifier: 'x' } }],
  ['WebhookEventsQueue', { Type: 'AWS::SNS::Topic' }],
  ['WebhookOriginElasticIp', { DeletionPolicy: 'Delete' }],
  ['WebhookOriginElasticIp', { UpdateReplacePolicy: 'Delete' }],
])('a template must not replace or release %s by %j', (id, { Properties, ...change }) => {
  const before = stackOf(complete).get(id);
  const others = { ...before.Properties, BackupRetentionPeriod: 30 };
  expect(stateOf([{ ...before, Properties: others }])).toEqual(stateOf([before]));
  const after = { ...before, ...change, Properties: { ...others, ...Properties } };
  expect(stateOf([after])).not.toEqual(stateOf([before]));
});

const { restoreFrom: time = {} } = shapes.restored?.database ?? {};
const snapshot = {
  snapshot: `arn:aws:rds:${withoutSla.region}:111122223333:cluster-snapshot:before`,
};

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
  [
    'a protected cluster with a standby, to a point in time',
    complete,
    time,
    [
      'DatabaseCluster.SourceDBClusterIdentifier',
      'DatabaseCluster.RestoreToTime',
      'DatabaseGlobalCluster.GlobalClusterIdentifier',
    ],
  ],
  ['an unprotected cluster, from a snapshot', withoutSla, snapshot, ['DatabaseCluster.SnapshotIdentifier']],
])(
  'the restore of %s changes only the cluster and its logs, retains both, and runs the migration',
  (_, row, source, changes) => {
    const [old, restoring] = [stackOf(row), stackOf(restored(row, source))];
    const found = differences(old, restoring)
      .filter((each) => !each.endsWith('.UpdateReplacePolicy'))
      .map((each) => each.replace(/^(SchemaMigration)\w{8}/, '$1'));
    const logs = restoring
      .all('AWS::Logs::LogGroup')
      .filter(({ logicalId }) => logicalId.startsWith('DatabaseLog'));
    expect(found.sort()).toEqual(
      [
        ...['DBClusterIdentifier', 'DatabaseName', 'MasterUsername'].map((name) => `DatabaseCluster.${name}`),
        ...logs.map(({ logicalId }) => `${logicalId}.LogGroupName`),
        'SchemaMigration.ContentHash',
        ...changes,
      ].sort(),
    );
    const ofCluster = restoring.resources.filter(({ Type }) =>
      /::RDS::(DBCluster|DBInstance|GlobalCluster)$/.test(Type),
    );
    for (const { UpdateReplacePolicy, Properties } of [...logs, ...ofCluster]) {
      expect(UpdateReplacePolicy).toBe('Retain');
      // With a fixed name, the new instance could not be created beside the old one.
      expect(Properties).not.toHaveProperty('DBInstanceIdentifier');
    }
  },
);

it('a promotion updates the cluster in place, and replaces or removes nothing', () => {
  const prepared = synthesizeEveryStack([complete])[complete.standby.stackId] as StackTemplate;
  const isOfBoth = (change: string) =>
    prepared.resources.some(
      ({ logicalId, Type }) => change.startsWith(`${logicalId}.`) && !/Alarm/.test(Type),
    );
  // promises.test.ts has the policies of both.
  const changes = differences(prepared, stackOf(serving(complete)))
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
  const { stackId, globalClusterIdentifier } = complete.standby;
  const [former, present] = [complete, row].map(
    (each) => synthesizeEveryStack([each])[stackId]?.get('DatabaseCluster').Properties,
  );
  expect(row.standby?.globalClusterIdentifier).not.toBe(globalClusterIdentifier);
  expect(present.GlobalClusterIdentifier).toBe(row.standby?.globalClusterIdentifier);
  expect(present.DBClusterIdentifier).toEqual(former.DBClusterIdentifier);
});
