import { isDeepStrictEqual } from 'node:util';
import type { Environment, RestoreSource, Standby } from '../../lib/environment';
import { restoreSuffix } from '../../lib/environment';
import { promoted, restored, withStandby } from '../support/rows';
import { type StackTemplate, synthesizeEveryStack, withApp } from '../support/stacks';
import { lossesOfStack, stateOf } from '../support/state-baseline';

const time = { cluster: 'wallet-direct-0123abcd', time: '2026-11-21T10:30:00Z' };
const snapshotIn = (region: string): RestoreSource => ({
  snapshot: `arn:aws:rds:${region}:111122223333:cluster-snapshot:before`,
});

const { restoreFrom: _, ...size } = withStandby.database;
const paired: Environment = { ...withStandby, databaseAccess: 'data-api', database: size };
const { standby, ...row } = withStandby;
const unprotected: Environment = {
  ...row,
  stackId: 'Unprotected',
  databaseAccess: 'direct',
  serviceLevelAgreement: false,
  database: { ...size, readers: 0, deletionProtection: false },
};
const snapshot = snapshotIn(paired.region);
const before = synthesizeEveryStack([paired, unprotected]);
const after = synthesizeEveryStack([restored(paired, snapshot), restored(unprotected, time)]);

/** `LogicalId.Property` of each difference, including resource attributes. */
function differences(one: StackTemplate, other: StackTemplate): string[] {
  expect(other.resources.map(({ logicalId }) => logicalId)).toEqual(
    one.resources.map(({ logicalId }) => logicalId),
  );
  return one.resources.flatMap(({ logicalId }) => {
    const [old, restoring] = [one, other].map((template) => {
      const { Properties, ...attributes } = template.get(logicalId);
      return { ...attributes, ...Properties };
    }) as [Record<string, unknown>, Record<string, unknown>];
    return Object.keys({ ...old, ...restoring })
      .filter((name) => !isDeepStrictEqual(old[name], restoring[name]))
      .map((name) => `${logicalId}.${name}`);
  });
}

const retained = ['DatabaseCluster', 'DatabaseWriter', 'DatabaseLogpostgresql', 'DatabaseLogiamdbautherror'];

describe.each([
  [
    'a protected cluster with a standby, from a snapshot',
    paired.stackId,
    ['DatabaseCluster.SnapshotIdentifier', 'DatabaseGlobalCluster.GlobalClusterIdentifier'],
  ],
  [
    'an unprotected cluster, to a point in time',
    'Unprotected',
    [
      'DatabaseCluster.SourceDBClusterIdentifier',
      'DatabaseCluster.RestoreToTime',
      'DatabaseLogiamdbautherror.LogGroupName',
      ...retained.map((id) => `${id}.UpdateReplacePolicy`),
    ],
  ],
])('the restore of %s', (_, stackId, changes) => {
  const [old, template] = [before[stackId], after[stackId]] as [StackTemplate, StackTemplate];

  it('changes only the cluster, its logs and the migration', () => {
    const found = differences(old, template).map((each) => each.replace(/^(SchemaMigration)\w{8}/, '$1'));
    const names = ['DBClusterIdentifier', 'DatabaseName', 'MasterUsername'];
    const expected = [
      ...names.map((name) => `DatabaseCluster.${name}`),
      'DatabaseLogpostgresql.LogGroupName',
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

  it('is the only loss that the state baseline reports, with a link to the runbook', () => {
    const losses = lossesOfStack(stateOf(old.json), template.json);
    expect(losses.filter((loss) => !/^`Database(Global)?Cluster`/.test(loss))).toEqual([]);
    expect(losses.join()).toContain('docs/runbook.md#restore-to-a-point-in-time');
  });
});

it('each restore source results in a different cluster name', () => {
  const sources = [time, { ...time, time: '2026-11-21T10:30:01Z' }, snapshot];
  const suffixes = sources.map((restoreFrom) => restoreSuffix({ restoreFrom }));
  expect(new Set(suffixes).size).toBe(3);
  for (const suffix of suffixes) expect(suffix).toMatch(/^-[0-9a-f]{8}$/);
  expect(restoreSuffix({})).toBe('');
  const identifier = after.Unprotected?.get('DatabaseCluster').Properties.DBClusterIdentifier;
  expect(JSON.stringify(identifier)).toContain(`"${suffixes[0]}"`);
});

it('validation and residency rules refuse a snapshot from another region', () => {
  const environments = [restored(unprotected, snapshotIn('us-east-1'))];
  withApp((app) => expect(() => app.synth()).toThrow(/Residency::value-not-allowed/), {
    environments,
    validateTemplates: false,
  });
});

it('the standby of a restored cluster joins its global database under the old name, and is promoted without replacement', () => {
  const environment = restored(paired, snapshot);
  const { stackId, globalClusterIdentifier } = environment.standby as Standby;
  const [former, present] = [before[stackId], after[stackId]] as [StackTemplate, StackTemplate];
  const { Properties } = present.get('DatabaseCluster');
  expect(Properties.GlobalClusterIdentifier).toBe(globalClusterIdentifier);
  expect(Properties.DBClusterIdentifier).toEqual(
    former.get('DatabaseCluster').Properties.DBClusterIdentifier,
  );
  const { restoreFrom: __, ...database } = environment.database;
  const serving = synthesizeEveryStack([promoted({ ...environment, database })])[stackId];
  const losses = lossesOfStack(stateOf(present.json), serving?.json);
  expect(losses.filter((loss) => !loss.includes('is new'))).toEqual([]);
});
