import { isDeepStrictEqual } from 'node:util';
import { statefulTypes } from '../../domain/stateful-types';
import { type Environment, type RestoreSource, restoreSuffix, type Standby } from '../../lib/environment';
import { environments as table } from '../../lib/environments';
import { restored } from '../support/rows';
import { type StackTemplate, synthesizeEveryStack, withApp } from '../support/stacks';
import { lossesOf, stateOf } from '../support/state-baseline';

const moment = { cluster: 'wallet-direct-0123abcd', time: '2026-11-21T10:30:00Z' };
const snapshotIn = (region: string): RestoreSource => ({
  snapshot: `arn:aws:rds:${region}:111122223333:cluster-snapshot:before`,
});

const stacksOf = (...rows: readonly Environment[]) => synthesizeEveryStack(rows);

/** `LogicalId.Property` of each difference, attributes of the resource itself included. */
function differences(before: StackTemplate, after: StackTemplate): string[] {
  expect(after.resources.map(({ logicalId }) => logicalId)).toEqual(
    before.resources.map(({ logicalId }) => logicalId),
  );
  return before.resources.flatMap(({ logicalId }) => {
    const [one, other] = [before, after].map((template) => {
      const { Properties, ...attributes } = template.get(logicalId);
      return { ...attributes, ...Properties };
    }) as [Record<string, unknown>, Record<string, unknown>];
    return Object.keys({ ...one, ...other })
      .filter((name) => !isDeepStrictEqual(one[name], other[name]))
      .map((name) => `${logicalId}.${name}`);
  });
}

/** A row with a standby, before any restore, and what an environment may be like besides. */
const row = table.find(({ standby }) => standby !== undefined) as Environment;
const { restoreFrom: _, ...size } = row.database;
const paired: Environment = { ...row, stackId: 'Paired', databaseAccess: 'data-api', database: size };
const { standby: left, ...alone } = paired;
const direct: Environment = { ...alone, stackId: 'Direct', databaseAccess: 'direct' };
const unprotected: Environment = {
  ...alone,
  stackId: 'Unprotected',
  serviceLevelAgreement: false,
  database: { ...size, readers: 0, deletionProtection: false },
};
const standbyId = left?.stackId ?? '';
const snapshot = snapshotIn(row.region);

const before = stacksOf(paired, direct, unprotected);
const after = stacksOf(restored(paired, snapshot), restored(direct, moment), restored(unprotected, snapshot));
const serving = ['Paired', 'Direct', 'Unprotected'];
const pairOf = (stackId: string) => [before[stackId], after[stackId]] as [StackTemplate, StackTemplate];

const cluster = (...names: string[]) =>
  ['DBClusterIdentifier', 'DatabaseName', 'MasterUsername', ...names].map(
    (name) => `DatabaseCluster.${name}`,
  );
const kept = (...ids: string[]) => ids.map((id) => `${id}.UpdateReplacePolicy`);
const log = (name: string) => `DatabaseLog${name}.LogGroupName`;
const migration = expect.stringMatching(/^SchemaMigration\w{8}\.ContentHash$/);
const unordered = (names: readonly unknown[]) => expect.arrayContaining([...names]);

describe('a restore', () => {
  it.each<[string, readonly unknown[]]>([
    [
      'Direct',
      [
        ...cluster('SourceDBClusterIdentifier', 'RestoreToTime'),
        log('postgresql'),
        log('iamdbautherror'),
        migration,
      ],
    ],
    [
      'Unprotected',
      [
        ...cluster('SnapshotIdentifier'),
        log('postgresql'),
        migration,
        ...kept('DatabaseCluster', 'DatabaseWriter', 'DatabaseLogpostgresql'),
      ],
    ],
    [
      'Paired',
      [
        ...cluster('SnapshotIdentifier'),
        log('postgresql'),
        migration,
        'DatabaseGlobalCluster.GlobalClusterIdentifier',
      ],
    ],
  ])('changes the cluster of %s, its logs and the migration, and nothing else', (stackId, expected) => {
    const found = differences(...pairOf(stackId));
    expect(found).toEqual(unordered(expected));
    expect(found).toHaveLength(expected.length);
    const [one, other] = pairOf(stackId);
    expect(other.json.Outputs).toEqual(one.json.Outputs);
    expect(other.json.Parameters).toEqual(one.json.Parameters);
  });

  it.each(serving)('makes the instances of %s follow, and nothing else that holds state', (stackId) => {
    const [, template] = pairOf(stackId);
    const state = template.resources.filter(
      ({ Type }) => Type === 'AWS::RDS::DBInstance' || statefulTypes[Type],
    );
    const following = state.filter(({ Properties }) =>
      JSON.stringify(Properties).includes('DatabaseCluster"'),
    );
    expect([...new Set(following.map(({ Type }) => Type))].sort()).toEqual(
      stackId === 'Paired' ? ['AWS::RDS::DBInstance', 'AWS::RDS::GlobalCluster'] : ['AWS::RDS::DBInstance'],
    );
    // With a name of ours the new instance could not be made beside the old one.
    for (const { Properties } of template.all('AWS::RDS::DBInstance'))
      expect(Properties).not.toHaveProperty('DBInstanceIdentifier');
  });

  it.each(serving)('keeps everything that it replaces in %s', (stackId) => {
    const [, template] = pairOf(stackId);
    const types = ['AWS::RDS::DBCluster', 'AWS::RDS::DBInstance', 'AWS::RDS::GlobalCluster'];
    const replaced = template.resources.filter(
      ({ Type, logicalId }) => types.includes(Type) || logicalId.startsWith('DatabaseLog'),
    );
    expect(replaced.length).toBeGreaterThan(2);
    for (const { UpdateReplacePolicy } of replaced) expect(UpdateReplacePolicy).toBe('Retain');
  });

  it('gives the owner the present password of its secret', () => {
    for (const stackId of serving) {
      const password = JSON.stringify(after[stackId]?.get('DatabaseCluster').Properties.MasterUserPassword);
      expect(password).toContain(
        '{{resolve:secretsmanager:",{"Ref":"DatabaseMasterSecret"},":SecretString:password',
      );
    }
  });

  it('names each restored cluster after where its data comes from', () => {
    const sources = [moment, { ...moment, time: '2026-11-21T10:30:01Z' }, snapshot, undefined];
    const suffixes = sources.map((restoreFrom) => restoreSuffix(restoreFrom ? { restoreFrom } : {}));
    expect(new Set(suffixes).size).toBe(sources.length);
    const identifier = JSON.stringify(after.Direct?.get('DatabaseCluster').Properties.DBClusterIdentifier);
    expect(identifier).toContain(`"${suffixes[0]}"`);
    expect(suffixes).toEqual([...Array(3).fill(expect.stringMatching(/^-[0-9a-f]{8}$/)), '']);
  });

  it('is what the guard of the baseline asks about, and nothing more', () => {
    for (const stackId of ['Direct', 'Unprotected']) {
      const losses = lossesOf(stateOf(before[stackId]?.json), after[stackId]?.json);
      expect(losses.filter((loss) => !loss.startsWith('DatabaseCluster (AWS::RDS::DBCluster)'))).toEqual([]);
      expect(losses.join()).toContain('docs/runbook.md#restore-to-a-moment');
    }
  });

  it('is refused from a snapshot of another region, whatever the rules of the row say', () => {
    const environments = [restored(direct, snapshotIn('us-east-1'))];
    withApp((app) => expect(() => app.synth()).toThrow(/Residency::value-not-allowed/), {
      environments,
      validateTemplates: false,
    });
  });
});

describe('the standby of a restored cluster', () => {
  const environment = restored(paired, snapshot);
  const standby = environment.standby as Standby;

  it('joins its global database, under a name that a promotion does not change', () => {
    const { Properties } = (after[standbyId] as StackTemplate).get('DatabaseCluster');
    const { Properties: former } = (before[standbyId] as StackTemplate).get('DatabaseCluster');
    expect(Properties.GlobalClusterIdentifier).toBe(standby.globalClusterIdentifier);
    expect(Properties.DBClusterIdentifier).toEqual(former.DBClusterIdentifier);
  });

  it('is promoted without replacement by a row that names the global database in place of the source', () => {
    const { stackId, region, zones, vpcCidr, globalClusterIdentifier } = standby;
    const database = { ...size, replicaOf: globalClusterIdentifier };
    const promoted = stacksOf({ ...alone, stackId, region, zones, vpcCidr, database })[stackId];
    const losses = lossesOf(stateOf(after[standbyId]?.json), promoted?.json);
    expect(losses.filter((loss) => !/is new/.test(loss))).toEqual([]);
  });
});
