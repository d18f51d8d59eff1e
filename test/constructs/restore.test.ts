import { isDeepStrictEqual } from 'node:util';
import type { Environment, RestoreSource, Standby } from '../../lib/environment/environment';
import { restoreSuffix } from '../../lib/environment/restore';
import { environmentLike, type StackTemplate, synthesizeEveryStack, withApp } from '../support/stacks';
import { lossesOf, readBaseline, statefulTypes, stateOf } from '../support/state-baseline';

const moment = { cluster: 'wallet-uae-0123abcd', time: '2026-11-21T10:30:00Z' };
const snapshotIn = (region: string): RestoreSource => ({
  snapshot: `arn:aws:rds:${region}:111122223333:cluster-snapshot:before`,
});

/** The row as docs/runbook.md, "Restore to a moment", has it written. */
function restored(row: Environment, restoreFrom: RestoreSource): Environment {
  const { standby } = row;
  return {
    ...row,
    database: { ...row.database, restoreFrom },
    ...(standby && { standby: { ...standby, globalClusterIdentifier: nameIn(standby, restoreFrom) } }),
  };
}
const nameIn = ({ globalClusterIdentifier }: Standby, restoreFrom: RestoreSource) =>
  `${globalClusterIdentifier}${restoreSuffix({ restoreFrom })}`;

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

const [eu, uae, staging] = ['eu', 'uae', 'staging'].map((name) => environmentLike(name)) as [
  Environment,
  Environment,
  Environment,
];
const rows = { WalletUae: uae, WalletStaging: staging } as const;
const before = stacksOf(eu, uae, staging);
const after = stacksOf(
  restored(eu, snapshotIn('eu-central-1')),
  restored(uae, moment),
  restored(staging, snapshotIn('eu-west-3')),
);
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
      'WalletUae',
      [
        ...cluster('SourceDBClusterIdentifier', 'RestoreToTime'),
        log('postgresql'),
        log('iamdbautherror'),
        migration,
      ],
    ],
    [
      'WalletStaging',
      [
        ...cluster('SnapshotIdentifier'),
        log('postgresql'),
        migration,
        ...kept('DatabaseCluster', 'DatabaseWriter', 'DatabaseLogpostgresql'),
      ],
    ],
    [
      'WalletEu',
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

  it.each(Object.keys(before).filter((stackId) => stackId !== 'WalletEuStandby'))(
    'makes the instances of %s follow, and nothing else that holds state',
    (stackId) => {
      const [, template] = pairOf(stackId);
      const state = template.resources.filter(
        ({ Type }) => Type === 'AWS::RDS::DBInstance' || statefulTypes[Type],
      );
      const following = state.filter(({ Properties }) =>
        JSON.stringify(Properties).includes('DatabaseCluster"'),
      );
      expect([...new Set(following.map(({ Type }) => Type))].sort()).toEqual(
        stackId === 'WalletEu'
          ? ['AWS::RDS::DBInstance', 'AWS::RDS::GlobalCluster']
          : ['AWS::RDS::DBInstance'],
      );
      // With a name of ours the new instance could not be made beside the old one.
      for (const { Properties } of template.all('AWS::RDS::DBInstance'))
        expect(Properties).not.toHaveProperty('DBInstanceIdentifier');
    },
  );

  it.each(Object.keys(before).filter((stackId) => stackId !== 'WalletEuStandby'))(
    'keeps everything that it replaces in %s',
    (stackId) => {
      const [, template] = pairOf(stackId);
      const types = ['AWS::RDS::DBCluster', 'AWS::RDS::DBInstance', 'AWS::RDS::GlobalCluster'];
      const replaced = template.resources.filter(
        ({ Type, logicalId }) => types.includes(Type) || logicalId.startsWith('DatabaseLog'),
      );
      expect(replaced.length).toBeGreaterThan(2);
      for (const { UpdateReplacePolicy } of replaced) expect(UpdateReplacePolicy).toBe('Retain');
    },
  );

  it('gives the owner the present password of its secret', () => {
    for (const stackId of ['WalletUae', 'WalletStaging', 'WalletEu']) {
      const password = JSON.stringify(after[stackId]?.get('DatabaseCluster').Properties.MasterUserPassword);
      expect(password).toContain(
        '{{resolve:secretsmanager:",{"Ref":"DatabaseMasterSecret"},":SecretString:password',
      );
    }
  });

  it('names each restored cluster after where its data comes from', () => {
    const sources = [
      moment,
      { ...moment, time: '2026-11-21T10:30:01Z' },
      snapshotIn('me-central-1'),
      undefined,
    ];
    const suffixes = sources.map((restoreFrom) => restoreSuffix(restoreFrom ? { restoreFrom } : {}));
    expect(new Set(suffixes).size).toBe(sources.length);
    const identifier = JSON.stringify(after.WalletUae?.get('DatabaseCluster').Properties.DBClusterIdentifier);
    expect(identifier).toContain(`"${suffixes[0]}"`);
    expect(suffixes).toEqual([...Array(3).fill(expect.stringMatching(/^-[0-9a-f]{8}$/)), '']);
  });

  it('is what the guard of the baseline asks about, and nothing more', () => {
    for (const [stackId, { name }] of Object.entries(rows)) {
      const losses = lossesOf(readBaseline()[stackId] ?? {}, after[stackId]?.json);
      expect([
        name,
        losses.filter((loss) => !loss.startsWith('DatabaseCluster (AWS::RDS::DBCluster)')),
      ]).toEqual([name, []]);
      expect(losses.join()).toContain('docs/runbook.md#restore-to-a-moment');
    }
  });

  it('passes every check of synthesis', () => {
    const environments = [restored(staging, moment), restored(uae, snapshotIn('me-central-1'))];
    withApp((app) => expect(() => app.synth()).not.toThrow(), { environments });
  });

  it('is refused from a snapshot of another region, whatever the rules of the row say', () => {
    const environments = [restored(uae, snapshotIn('eu-central-1'))];
    withApp((app) => expect(() => app.synth()).toThrow(/Residency::cross-region-copy/), {
      environments,
      validateTemplates: false,
    });
  });
});

describe('the standby of a restored cluster', () => {
  const row = restored(eu, snapshotIn('eu-central-1'));
  const standby = row.standby as Standby;

  it('joins its global database, under a name that a promotion does not change', () => {
    const { Properties } = (after.WalletEuStandby as StackTemplate).get('DatabaseCluster');
    const { Properties: former } = (before.WalletEuStandby as StackTemplate).get('DatabaseCluster');
    expect(Properties.GlobalClusterIdentifier).toBe(standby.globalClusterIdentifier);
    expect(Properties.DBClusterIdentifier).toEqual(former.DBClusterIdentifier);
  });

  it('is promoted without replacement by a row that names the global database in place of the source', () => {
    const { standby: _, ...served } = row;
    const { restoreFrom, ...size } = served.database;
    const { stackId, region, zones, vpcCidr, globalClusterIdentifier } = standby;
    const database = { ...size, replicaOf: globalClusterIdentifier };
    const promoted = stacksOf({ ...served, stackId, region, zones, vpcCidr, database })[stackId];
    const losses = lossesOf(stateOf(after.WalletEuStandby?.json), promoted?.json);
    expect(losses.filter((loss) => !/is new/.test(loss))).toEqual([]);
    expect(restoreFrom).toBeDefined();
  });
});
