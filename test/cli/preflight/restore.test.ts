import { createCall } from '../../../cli/preflight/call';
import { restore } from '../../../cli/preflight/checks/restore';
import type { StackResource } from '../../../cli/stack-resources';
import { clientSettings } from '../../../cli/target';
import type { RestoreSource } from '../../../lib/environment/environment';
import { restoreSuffix } from '../../../lib/environment/restore';
import { newcomer as row } from '../../support/rows';
import { type LocalAccount, type Replies, refusal, result, startAccount } from './account';

const snapshot = `arn:aws:rds:${row.region}:111122223333:cluster-snapshot:before`;
const fromSnapshot = { snapshot };
const fromMoment = { cluster: `wallet-${row.name}-0123abcd`, time: '2026-11-21T10:30:00Z' };

let account: LocalAccount;
beforeAll(async () => {
  account = await startAccount();
});
afterAll(() => account.close());

async function ask(restoreFrom: RestoreSource | undefined, replies: Replies, deployed?: StackResource) {
  account.answer(replies);
  const environment = { ...row, database: { ...row.database, ...(restoreFrom && { restoreFrom }) } };
  const { snapshot: SnapshotIdentifier, cluster, time } = { ...restoreFrom } as Record<string, string>;
  const properties = {
    EngineVersion: '17.9',
    SnapshotIdentifier,
    SourceDBClusterIdentifier: cluster,
    RestoreToTime: time,
  };
  return restore.ask({
    environment,
    account: undefined,
    stack: {
      name: row.stackId,
      region: row.region,
      zones: row.zones,
      bootstrap: { version: 6, parameter: '' },
      resources: [{ logicalId: 'DatabaseCluster', type: 'AWS::RDS::DBCluster', properties }],
    },
    clientSettings: {
      ...clientSettings(row.region),
      endpoint: account.url,
      credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
    },
    call: createCall(10_000),
    deployedStatus: async () => 'UPDATE_COMPLETE',
    deployedResources: async () => (deployed ? [deployed] : []),
  });
}

const snapshots = (Status: string, EngineVersion = '17.9'): Replies => ({
  'rds:DescribeDBClusterSnapshots': () =>
    result({ DBClusterSnapshots: { DBClusterSnapshot: { Status, EngineVersion } } }),
});
const clusters = (earliest: string, latest: string, EngineVersion = '17.9'): Replies => ({
  'rds:DescribeDBClusters': () =>
    result({
      DBClusters: {
        DBCluster: { EarliestRestorableTime: earliest, LatestRestorableTime: latest, EngineVersion },
      },
    }),
});
const [dawn, noon] = ['2026-11-21T06:00:00.000Z', '2026-11-21T12:00:00.000Z'];

it('asks nothing for a row that restores nothing', async () => {
  expect(await ask(undefined, {})).toEqual({ outcome: 'ok', found: 'the row names nothing' });
  expect(account.calls).toEqual([]);
});

it.each<[string, RestoreSource, Replies, string]>([
  ['a snapshot', fromSnapshot, snapshots('available'), `${snapshot} is available, version 17.9`],
  [
    'a moment',
    fromMoment,
    clusters(dawn, noon),
    `${fromMoment.cluster} can be restored from ${dawn} to ${noon}, version 17.9`,
  ],
])('is content with %s that is there', async (_, source, replies, found) => {
  expect(await ask(source, replies)).toEqual({ outcome: 'ok', found });
});

it.each<[string, RestoreSource, Replies, string]>([
  [
    'no such snapshot',
    fromSnapshot,
    { 'rds:DescribeDBClusterSnapshots': () => refusal('DBClusterSnapshotNotFoundFault') },
    `${row.region} has no ${snapshot}`,
  ],
  ['a snapshot in the making', fromSnapshot, snapshots('creating'), `${snapshot} is creating`],
  ['a snapshot of another version', fromSnapshot, snapshots('available', '17.8'), 'is of version 17.8'],
  [
    'no such cluster',
    fromMoment,
    { 'rds:DescribeDBClusters': () => refusal('DBClusterNotFoundFault') },
    `${row.region} has no cluster ${fromMoment.cluster}`,
  ],
  [
    'a moment yet to come',
    fromMoment,
    clusters(dawn, '2026-11-21T10:29:59Z'),
    'the row has 2026-11-21T10:30:00Z',
  ],
  [
    'a moment too long ago',
    fromMoment,
    clusters('2026-11-21T10:30:01Z', noon),
    'the row has 2026-11-21T10:30:00Z',
  ],
  ['a cluster of another version', fromMoment, clusters(dawn, noon, '17.10'), 'is of version 17.10'],
])('fails for %s', async (_, source, replies, found) => {
  const answer = await ask(source, replies);
  expect(answer).toMatchObject({ outcome: 'failed', found: expect.stringContaining(found) });
  expect(answer).toHaveProperty('remedy', expect.stringMatching(/\w/));
});

it('does not look for the source of a cluster that is restored already', async () => {
  const physicalId = `wallet-${row.name}-0123abcd${restoreSuffix({ restoreFrom: fromSnapshot })}`;
  const deployed = { logicalId: 'DatabaseCluster', type: 'AWS::RDS::DBCluster', physicalId };
  expect(await ask(fromSnapshot, {}, deployed as StackResource)).toEqual({
    outcome: 'ok',
    found: `${physicalId} is restored already`,
  });
  expect(account.calls).toEqual([]);
  await expect(ask(fromMoment, {}, deployed as StackResource)).rejects.toThrow('rds:DescribeDBClusters');
});
