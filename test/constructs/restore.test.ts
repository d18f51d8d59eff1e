import { isDeepStrictEqual } from 'node:util';
import { type Environment, type RestoreSource, restoreSuffix } from '../../lib/environment';
import { restored, withoutSla, withStandby } from '../support/rows';
import { type StackTemplate, synthesizeEveryStack } from '../support/stacks';

const time = { cluster: 'wallet-direct-0123abcd', time: '2026-11-21T10:30:00Z' };
const snapshot = {
  snapshot: `arn:aws:rds:${withStandby.region}:111122223333:cluster-snapshot:before`,
};

const synthesizePair = (row: Environment, source: RestoreSource) =>
  [synthesizeEveryStack([row]), synthesizeEveryStack([restored(row, source)])] as const;
const [paired, restoredPair] = synthesizePair(withStandby, snapshot);
const [alone, restoredAlone] = synthesizePair(withoutSla, time);

const idsOf = (stack: StackTemplate | undefined, pattern: RegExp) =>
  Object.keys(stack?.json.Resources).filter((id) => pattern.test(id));

/** `LogicalId.Property` of each difference, including resource attributes. */
function differences(one: StackTemplate, other: StackTemplate): string[] {
  const flat = ({ json }: StackTemplate): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries<Record<string, object>>(json.Resources).flatMap(([id, { Properties, ...attributes }]) =>
        Object.entries({ ...attributes, ...Properties }).map(([name, value]) => [`${id}.${name}`, value]),
      ),
    );
  const [old, restoring] = [flat(one), flat(other)];
  return Object.keys({ ...old, ...restoring }).filter((key) => !isDeepStrictEqual(old[key], restoring[key]));
}

describe.each([
  [
    'a protected cluster with a standby, from a snapshot',
    paired[withStandby.stackId],
    restoredPair[withStandby.stackId],
    ['DatabaseCluster.SnapshotIdentifier', 'DatabaseGlobalCluster.GlobalClusterIdentifier'],
  ],
  [
    'an unprotected cluster, to a point in time',
    alone[withoutSla.stackId],
    restoredAlone[withoutSla.stackId],
    [
      'DatabaseCluster.SourceDBClusterIdentifier',
      'DatabaseCluster.RestoreToTime',
      ...idsOf(alone[withoutSla.stackId], /^Database(Cluster$|Writer|Reader|Log)/).map(
        (id) => `${id}.UpdateReplacePolicy`,
      ),
    ],
  ],
])('the restore of %s', (_, old, template, changes) => {
  if (!old || !template) throw new Error('The stack is missing.');

  it('changes only the cluster, its logs and the migration', () => {
    const found = differences(old, template).map((each) => each.replace(/^(SchemaMigration)\w{8}/, '$1'));
    const expected = [
      ...['DBClusterIdentifier', 'DatabaseName', 'MasterUsername'].map((name) => `DatabaseCluster.${name}`),
      ...idsOf(old, /^DatabaseLog/).map((id) => `${id}.LogGroupName`),
      'SchemaMigration.ContentHash',
      ...changes,
    ];
    expect(found.sort()).toEqual(expected.sort());
    const { Outputs, Parameters } = old.json;
    expect(template.json).toMatchObject({ Outputs, Parameters });
  });

  it('retains everything that it replaces: cluster, instances, logs and global database', () => {
    const replaced = template.resources.filter(
      ({ Type, logicalId }) =>
        /::RDS::(DBCluster|DBInstance|GlobalCluster)$/.test(Type) || logicalId.startsWith('DatabaseLog'),
    );
    for (const { UpdateReplacePolicy, Properties } of replaced) {
      expect(UpdateReplacePolicy).toBe('Retain');
      // With a fixed name, the new instance could not be created beside the old one.
      expect(Properties).not.toHaveProperty('DBInstanceIdentifier');
    }
  });

  it('sets the owner password from its secret', () => {
    const password = JSON.stringify(template.get('DatabaseCluster').Properties.MasterUserPassword);
    expect(password).toContain(
      '{{resolve:secretsmanager:",{"Ref":"DatabaseMasterSecret"},":SecretString:password',
    );
  });
});

it('each restore source results in a different cluster name', () => {
  const sources = [time, { ...time, time: '2026-11-21T10:30:01Z' }, snapshot];
  const suffixes = sources.map((restoreFrom) => restoreSuffix({ restoreFrom }));
  expect(new Set(suffixes).size).toBe(3);
  for (const suffix of suffixes) expect(suffix).toMatch(/^-[0-9a-f]{8}$/);
  expect(restoreSuffix({})).toBe('');
  const identifier = restoredAlone[withoutSla.stackId]?.get('DatabaseCluster').Properties.DBClusterIdentifier;
  expect(JSON.stringify(identifier)).toContain(`"${suffixes[0]}"`);
});

it('the standby of a restored cluster joins its new global database under its old name', () => {
  const { stackId, globalClusterIdentifier } = restored(withStandby, snapshot).standby ?? {};
  const [former, present] = [paired, restoredPair].map(
    (stacks) => stacks[stackId ?? '']?.get('DatabaseCluster').Properties,
  );
  expect(globalClusterIdentifier).not.toBe(withStandby.standby.globalClusterIdentifier);
  expect(present.GlobalClusterIdentifier).toBe(globalClusterIdentifier);
  expect(present.DBClusterIdentifier).toEqual(former.DBClusterIdentifier);
});
