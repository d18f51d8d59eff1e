import { isDeepStrictEqual } from 'node:util';
import type { Environment, RestoreSource } from '../../lib/environment/schema';
import { environments } from '../../lib/environments';
import { first, newcomer, restored, withDataApi, withoutSla, withStandby } from '../support/rows';
import { type StackTemplate, stackOf, synthesizeEveryStack } from '../support/stacks';
import { changesOf, readBaseline, stateOf, stateOfApp, synthesizeTemplates } from './state-baseline';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const baseline = readBaseline();
const templates = synthesizeTemplates();

it('no stack replaces or releases its state, or adds state that the baseline lacks (npx tsx test/constructs/state-baseline.ts)', () => {
  expect(changesOf(baseline, stateOfApp(templates))).toEqual({ lost: [], added: [] });
});

it('an environment may be added or removed, and no stack renamed', () => {
  const state = stateOfApp(templates);
  const others = state.filter((line) => !line.startsWith(`${first.name} `));
  expect(changesOf(state, others, environments.slice(1))).toEqual({ lost: [], added: [] });
  expect(changesOf(others, state, [...environments, newcomer])).toEqual({ lost: [], added: [] });
  const renamed = state.map((line) => line.replace(` ${first.stackId} `, ' WalletRenamed '));
  expect(changesOf(state, renamed)).toEqual({
    lost: state.filter((line) => line.split(' ')[1] === first.stackId),
    added: [],
  });
});

it.each<[id: string, what: string, change: (resource: Json) => unknown]>([
  [
    'DatabaseCluster',
    'SnapshotIdentifier',
    ({ Properties }) => Object.assign(Properties, { SnapshotIdentifier: 'x' }),
  ],
  ['WebhookEventsQueue', 'Type', (resource) => Object.assign(resource, { Type: 'AWS::SNS::Topic' })],
  [
    'WebhookOriginElasticIp',
    'DeletionPolicy',
    (resource) => Object.assign(resource, { DeletionPolicy: 'Delete' }),
  ],
  ['WebhookOriginElasticIp', 'UpdateReplacePolicy', (resource) => delete resource.UpdateReplacePolicy],
])('a template must not replace or release %s by its %s, but may change it in place', (id, _, change) => {
  const before = templates[withDataApi.stackId];
  const after = structuredClone(before);
  after.Resources.DatabaseCluster.Properties.BackupRetentionPeriod = 30;
  change(after.Resources[id]);
  const lost = stateOf(before).filter((line) => !stateOf(after).includes(line));
  expect(lost).toEqual([expect.stringMatching(`^${id} `)]);
});

const time = { cluster: 'wallet-direct-0123abcd', time: '2026-11-21T10:30:00Z' };
const snapshot = {
  snapshot: `arn:aws:rds:${withStandby.region}:111122223333:cluster-snapshot:before`,
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
    'a protected cluster with a standby, from a snapshot',
    withStandby,
    snapshot,
    ['DatabaseCluster.SnapshotIdentifier', 'DatabaseGlobalCluster.GlobalClusterIdentifier'],
  ],
  [
    'an unprotected cluster, to a point in time',
    withoutSla,
    time,
    ['DatabaseCluster.SourceDBClusterIdentifier', 'DatabaseCluster.RestoreToTime'],
  ],
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
  const row = restored(withStandby, snapshot);
  const { stackId, globalClusterIdentifier } = withStandby.standby;
  const [former, present] = [withStandby, row].map(
    (each) => synthesizeEveryStack([each])[stackId]?.get('DatabaseCluster').Properties,
  );
  expect(row.standby?.globalClusterIdentifier).not.toBe(globalClusterIdentifier);
  expect(present.GlobalClusterIdentifier).toBe(row.standby?.globalClusterIdentifier);
  expect(present.DBClusterIdentifier).toEqual(former.DBClusterIdentifier);
});
