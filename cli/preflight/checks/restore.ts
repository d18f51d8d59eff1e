import type { RDSClient } from '@aws-sdk/client-rds';
import { restoreSuffix } from '../../../lib/environment/restore';
import { CallFailed } from '../call';
import { type Answer, type CallAws, type Check, failed, ok } from '../check';
import { clusterOf, clusterType } from './database';

/**
 * Whether RDS has what `database.restoreFrom` names, at the template's version: a restore to a moment begins at the source's.
 * Once the stack has the restored cluster, the source may be gone.
 */
export const restore: Check = {
  id: 'restore',
  title: 'where the database is restored from',
  scope: 'stack',
  async ask({ environment: { database }, stack, deployedResources, clientSettings, call }) {
    const { SnapshotIdentifier, SourceDBClusterIdentifier, RestoreToTime, EngineVersion } = clusterOf(stack);
    if (SnapshotIdentifier === undefined && SourceDBClusterIdentifier === undefined)
      return ok('the row names nothing');
    const cluster = (await deployedResources()).find(({ type }) => type === clusterType);
    if (cluster?.physicalId.endsWith(restoreSuffix(database)))
      return ok(`${cluster.physicalId} is restored already`);
    const sdk = await import('@aws-sdk/client-rds');
    const asking = { client: new sdk.RDSClient(clientSettings), call, sdk, region: stack.region };
    return SnapshotIdentifier === undefined
      ? askCluster(SourceDBClusterIdentifier, RestoreToTime, EngineVersion, asking)
      : askSnapshot(SnapshotIdentifier, EngineVersion, asking);
  },
};

interface Asking {
  readonly client: RDSClient;
  readonly call: CallAws;
  readonly sdk: typeof import('@aws-sdk/client-rds');
  readonly region: string;
}

async function askSnapshot(
  arn: string,
  version: string,
  { client, call, sdk, region }: Asking,
): Promise<Answer> {
  const answer = await unlessMissing('DBClusterSnapshotNotFoundFault', () =>
    call('rds:DescribeDBClusterSnapshots', (options) =>
      client.send(new sdk.DescribeDBClusterSnapshotsCommand({ DBClusterSnapshotIdentifier: arn }), options),
    ),
  );
  const snapshot = answer?.DBClusterSnapshots?.[0];
  const list = `aws rds describe-db-cluster-snapshots --region ${region} --query "DBClusterSnapshots[].[DBClusterSnapshotArn,SnapshotCreateTime,Status]"`;
  if (snapshot === undefined) return failed(`${region} has no ${arn}`, `Name another: ${list}`);
  const { Status, EngineVersion = '' } = snapshot;
  if (Status !== 'available') return failed(`${arn} is ${Status}`, `Wait until it is available: ${list}`);
  return ofVersion(`${arn} is available`, EngineVersion, version);
}

async function askCluster(
  identifier: string,
  time: string,
  version: string,
  { client, call, sdk, region }: Asking,
): Promise<Answer> {
  const answer = await unlessMissing('DBClusterNotFoundFault', () =>
    call('rds:DescribeDBClusters', (options) =>
      client.send(new sdk.DescribeDBClustersCommand({ DBClusterIdentifier: identifier }), options),
    ),
  );
  const cluster = answer?.DBClusters?.[0];
  if (cluster === undefined) {
    const list = `aws rds describe-db-clusters --region ${region} --query "DBClusters[].DBClusterIdentifier"`;
    return failed(`${region} has no cluster ${identifier}`, `Name another: ${list}`);
  }
  const { EarliestRestorableTime: earliest, LatestRestorableTime: latest, EngineVersion = '' } = cluster;
  const window = `${identifier} can be restored from ${earliest?.toISOString()} to ${latest?.toISOString()}`;
  const moment = new Date(time);
  if (earliest === undefined || latest === undefined || moment < earliest || moment > latest)
    return failed(
      `${window}, the row has ${time}`,
      'Give a moment between them; the latest is about five minutes ago. For an earlier one, restore a snapshot.',
    );
  return ofVersion(window, EngineVersion, version);
}

const ofVersion = (found: string, version: string, planned: string): Answer =>
  version === planned
    ? ok(`${found}, version ${version}`)
    : failed(
        `${found}, but is of version ${version}; the template has ${planned}`,
        `Put ${version} into lib/database/foundation.ts for this deployment, and upgrade afterwards.`,
      );

async function unlessMissing<T>(errorName: string, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof CallFailed && error.errorName === errorName) return undefined;
    throw error;
  }
}
