import { isDeepStrictEqual } from 'node:util';
import type { Environment, RestoreSource } from '../../lib/environment/schema';
import { complete, restored, shapes, withDataApi, withoutSla } from '../support/rows';
import { type Resource, type StackTemplate, stackOf, synthesizeEveryStack } from '../support/stacks';
import { readBaseline, stateOf, stateOfApp } from './state-baseline';

it('no stack replaces or releases its state, or adds state that the baseline lacks (npx tsx test/constructs/state-baseline.ts)', () => {
  const [baseline, state] = [readBaseline(), stateOfApp()];
  expect(baseline.filter((line) => !state.includes(line))).toEqual([]);
  // A new stack has no state yet.
  const stackOf = (line: string) => line.split(' ')[1];
  const added = state.filter(
    (line) => baseline.map(stackOf).includes(stackOf(line)) && !baseline.includes(line),
  );
  expect(added).toEqual([]);
});

it.each<[id: string, change: Partial<Resource>]>([
  ['DatabaseCluster', { Properties: { SnapshotIdentifier: 'x' } }],
  ['WebhookEventsQueue', { Type: 'AWS::SNS::Topic' }],
  ['WebhookOriginElasticIp', { DeletionPolicy: 'Delete' }],
  ['WebhookOriginElasticIp', { UpdateReplacePolicy: 'Delete' }],
])('a template must not replace or release %s by %j', (id, { Properties, ...change }) => {
  const before = stackOf(withDataApi).resources;
  const after = before.map((each) =>
    each.logicalId === id
      ? { ...each, ...change, Properties: { ...each.Properties, BackupRetentionPeriod: 30, ...Properties } }
      : each,
  );
  const state = stateOf(after);
  expect(stateOf(before).filter((line) => !state.includes(line))).toEqual([expect.stringMatching(`^${id} `)]);
});

const { restoreFrom: time = {} } = shapes.restored?.database ?? {};
const snapshot = {
  snapshot: `arn:aws:rds:${withoutSla.region}:111122223333:cluster-snapshot:before`,
};

/** `LogicalId.Property` of each difference, including resource attributes. */
function differences(one: StackTemplate, other: StackTemplate): string[] {
  const flat = ({ resources }: StackTemplate): Record<string, unknown> =>
    Object.fromEntries(
      resources.flatMap(({ logicalId, Properties, ...attributes }) =>
        Object.entries({ ...attributes, ...Properties }).map(([name, value]) => [
          `${logicalId}.${name}`,
          value,
        ]),
      ),
    );
  const [old, restoring] = [flat(one), flat(other)];
  return Object.keys({ ...old, ...restoring }).filter((key) => !isDeepStrictEqual(old[key], restoring[key]));
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
