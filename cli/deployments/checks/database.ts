import { RDS } from '@aws-sdk/client-rds';
import { type Environment, restoreSuffix } from '../../../lib/environments';
import { callAws, callAwsPages, clientSettings, unlessRefused } from '../../shell/aws';
import {
  type Check,
  type Context,
  existing,
  type Finding,
  failed,
  planned,
  standsBy,
  warning,
} from './check';

const clusterType = 'AWS::RDS::DBCluster';

/** The assembly's cluster, not the deployed stack's. */
const plannedCluster = (stack: Context['stack']) => planned(stack, clusterType)[0] ?? {};

export const databaseChecks: readonly Check[] = [
  {
    // DescribeDBEngineVersions omits Data API support; instance options have it, as an optional field.
    // https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_OrderableDBInstanceOption.html
    id: 'database-engine',
    async run(context) {
      const { stack, zones } = context;
      const { environment } = context;
      const { Engine, EngineVersion, GlobalClusterIdentifier } = plannedCluster(stack);
      // Of a standby, its promotion turns it on.
      const EnableHttpEndpoint = environment.databaseAccess === 'data-api';
      const isGlobal = GlobalClusterIdentifier || planned(stack, 'AWS::RDS::GlobalCluster').length > 0;
      const rds = new RDS(clientSettings(stack.region));
      const input = { Engine, EngineVersion, DBInstanceClass: 'db.serverless' };
      // InvalidParameterValue: RDS does not offer the version.
      const answer = await unlessRefused(/^InvalidParameter/, () =>
        callAws(rds, 'describeOrderableDBInstanceOptions', input),
      );
      const offered = (answer?.OrderableDBInstanceOptions ?? [])
        .filter(({ SupportsHttpEndpoint }) => !EnableHttpEndpoint || SupportsHttpEndpoint !== false)
        .filter(({ SupportsGlobalDatabases }) => !isGlobal || SupportsGlobalDatabases !== false)
        .flatMap(({ AvailabilityZones = [] }) => AvailabilityZones.map(({ Name }) => Name));
      const needs = [EnableHttpEndpoint && 'with the Data API', isGlobal && 'in a global database'];
      const version = [`${Engine} ${EngineVersion}`, 'db.serverless', ...needs.filter(Boolean)].join(', ');
      const placed = planned(stack, 'AWS::RDS::DBInstance').map(({ AvailabilityZone }) => AvailabilityZone);
      // Those that a promotion will place, in the order of the zones.
      const later = standsBy(context) ? zones.slice(0, 1 + environment.database.readers) : [];
      const missing = new Set([...placed, ...later].filter((zone) => !offered.includes(zone)));
      if (missing.size === 0)
        return `${version}: ${zones.filter((zone) => offered.includes(zone)).join(', ')}`;
      const found = `${version} is not available in ${[...missing].join(', ')}`;
      const list = `aws rds describe-orderable-db-instance-options --engine ${Engine} --db-instance-class db.serverless --query "OrderableDBInstanceOptions[].[EngineVersion,SupportsHttpEndpoint,SupportsGlobalDatabases,AvailabilityZones[].Name]" --region ${stack.region}`;
      // RDS stops offering a version long before it upgrades those that run.
      if ((await existing(context, clusterType)).length > 0)
        return warning(
          found,
          `The cluster that runs stays; new instances and a restore would fail. To upgrade: ${list}`,
        );
      return failed(
        found,
        `Choose another databaseVersion in lib/database/cluster.ts, or databaseAccess "direct": ${list}`,
      );
    },
  },
  {
    id: 'database-running',
    async run(context) {
      const [cluster] = await existing(context, clusterType);
      if (cluster === undefined) return 'no database yet';
      const running = (await describeCluster(context.stack.region, cluster))?.EngineVersion ?? '';
      const version: string = plannedCluster(context.stack).EngineVersion;
      const found = `${running} runs, the template has ${version}`;
      if (running.localeCompare(version, 'en', { numeric: true }) <= 0) return found;
      return failed(
        found,
        `Set databaseVersion in lib/database/cluster.ts to ${running}: RDS cannot downgrade.`,
      );
    },
  },
  {
    id: 'restore',
    async run(context) {
      const { stack, environment } = context;
      const { restoreFrom } = environment.database;
      if (stack.name !== environment.stackId) return `checked with ${environment.stackId}`;
      const [cluster] = await existing(context, clusterType);
      if (!restoreFrom) return cluster ? 'no restore requested' : beginsEmpty(environment);
      if (cluster?.endsWith(restoreSuffix(environment.database))) return `${cluster} is already restored`;
      const { found, version, isUsable } = await readSource(stack.region, restoreFrom);
      if (!isUsable)
        return failed(
          found,
          `Wait, or choose another: aws rds ${restoreFrom.snapshot ? 'describe-db-cluster-snapshots' : 'describe-db-clusters'} --region ${stack.region}`,
        );
      // Point-in-time restore uses the source's version.
      const { EngineVersion } = plannedCluster(stack);
      if (version === EngineVersion) return `${found}, version ${version}`;
      return failed(
        `${found}, but its version is ${version}; the template has ${EngineVersion}`,
        `Set databaseVersion in lib/database/cluster.ts to ${version} for this deployment, and upgrade afterwards.`,
      );
    },
  },
  {
    // A promotion cannot be taken back by removing the word, and none is made by the word alone.
    id: 'serving',
    isForBoth: true,
    async run(context) {
      const { environment, stack } = context;
      const { region, name } = stack;
      if (standsBy(context)) {
        const { resources = [] } = (await context.deployed) ?? {};
        if (!resources.some(({ logicalId }) => logicalId === 'WebhookEventsQueue'))
          return `${name} stands by`;
        return failed(
          `${name} serves, and the row says that it stands by: a deployment would delete what serves, queues with messages among it`,
          'Set standby.serves to true again. To let the other region serve, promote a standby there: docs/runbook/emergencies.md#returning',
        );
      }
      const [cluster] = await existing(context, clusterType);
      const {
        GlobalClusterIdentifier = planned(stack, 'AWS::RDS::GlobalCluster')[0]?.GlobalClusterIdentifier,
      } = plannedCluster(stack);
      if (!cluster || !GlobalClusterIdentifier) return 'no cluster in a global database';
      if (environment.database.restoreFrom && !cluster.endsWith(restoreSuffix(environment.database)))
        return 'a restore replaces the cluster';
      const pages = await callAwsPages(
        new RDS(clientSettings(region)),
        'describeGlobalClusters',
        {},
        'Marker',
      );
      const memberships = pages
        .flatMap(({ GlobalClusters = [] }) => GlobalClusters)
        .flatMap(({ GlobalClusterIdentifier: global, GlobalClusterMembers = [] }) =>
          GlobalClusterMembers.map((member) => ({ global, ...member })),
        );
      const own = memberships.find(
        ({ DBClusterArn = '' }) =>
          DBClusterArn.includes(`:${region}:`) && DBClusterArn.endsWith(`:${cluster}`),
      );
      // Alone after a detach, or not yet in one.
      if (!own) return `${cluster} is in no global database`;
      if (own.global !== GlobalClusterIdentifier)
        return failed(
          `${cluster} is in the global database ${own.global}, the template has ${GlobalClusterIdentifier}`,
          'Correct the row, or take the cluster out of the old one first: docs/runbook/emergencies.md#promoting-the-standby',
        );
      if (own.IsWriter) return `${cluster} is the writer of ${own.global}`;
      return failed(
        `${cluster} is a replica in ${own.global}: it would serve what another cluster writes, and refuse deletions`,
        'Fail over first, or let the stack of the writer serve: docs/runbook/emergencies.md#promoting-the-standby',
      );
    },
  },
];

/** A stack with no cluster yet, and with nothing to restore. */
function beginsEmpty({ keyReplicas, adoptedKeys, standby, ...row }: Environment): string | Finding {
  const remedy =
    'Name the data in database.restoreFrom: docs/runbook/emergencies.md#restore-to-a-point-in-time. For a new environment, remove what another one recorded.';
  const keys = keyReplicas ?? adoptedKeys ?? standby?.keys;
  const recorded = keys ? 'keys' : (row.originAddress ?? row.formerAddress ?? row.database.replicaOf);
  if (recorded)
    return failed(
      `the row records ${recorded} of an environment that has served, and the database would begin empty`,
      remedy,
    );
  const { adoptedElasticIp } = row;
  if (!adoptedElasticIp) return 'a new, empty database';
  return warning(`the row adopts ${adoptedElasticIp.address}, and the database would begin empty`, remedy);
}

async function describeCluster(region: string, DBClusterIdentifier: string) {
  const rds = new RDS(clientSettings(region));
  const answer = await unlessRefused(/^DBClusterNotFoundFault$/, () =>
    callAws(rds, 'describeDBClusters', { DBClusterIdentifier }),
  );
  return answer?.DBClusters?.[0];
}

type RestoreSource = NonNullable<Environment['database']['restoreFrom']>;

async function readSource(region: string, { snapshot, cluster = '', time = '' }: RestoreSource) {
  if (snapshot) {
    const rds = new RDS(clientSettings(region));
    const answer = await unlessRefused(/^DBClusterSnapshotNotFoundFault$/, () =>
      callAws(rds, 'describeDBClusterSnapshots', { DBClusterSnapshotIdentifier: snapshot }),
    );
    const { Status = `not in ${region}`, EngineVersion: version } = answer?.DBClusterSnapshots?.[0] ?? {};
    return { found: `${snapshot} is ${Status}`, version, isUsable: Status === 'available' };
  }
  const source = await describeCluster(region, cluster);
  const { EarliestRestorableTime: earliest, LatestRestorableTime: latest } = source ?? {};
  const { EngineVersion: version } = source ?? {};
  const range = earliest && latest ? `from ${earliest.toISOString()} to ${latest.toISOString()}` : 'never';
  const isUsable = earliest && latest && earliest <= new Date(time) && new Date(time) <= latest;
  return { found: `${cluster} can be restored ${range}, the row has ${time}`, version, isUsable };
}
