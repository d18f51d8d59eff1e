import { RDS } from '@aws-sdk/client-rds';
import { type Environment, restoreSuffix } from '../../../lib/environments';
import { callAws, clientSettings, unlessRefused } from '../../shell/aws';
import type { AssembledStack } from '../assembly';
import { type Check, existing, failed, planned, warning } from './check';

const clusterType = 'AWS::RDS::DBCluster';

/** The assembly's cluster, not the deployed stack's. */
const plannedCluster = (stack: AssembledStack) => planned(stack, clusterType)[0] ?? {};

export const databaseChecks: readonly Check[] = [
  {
    // DescribeDBEngineVersions omits Data API support; instance options have it, as an optional field.
    // https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_OrderableDBInstanceOption.html
    id: 'database-engine',
    async run(context) {
      const { stack, zones } = context;
      const { Engine, EngineVersion, EnableHttpEndpoint, GlobalClusterIdentifier } = plannedCluster(stack);
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
      // A cluster without instances needs one zone: those of its instances are decided later.
      const missing = new Set(placed.filter((zone) => !offered.includes(zone)));
      const isOffered = placed.length > 0 ? missing.size === 0 : zones.some((zone) => offered.includes(zone));
      if (isOffered) return `${version}: ${zones.filter((zone) => offered.includes(zone)).join(', ')}`;
      const found = `${version} is not available in ${[...(placed.length > 0 ? missing : zones)].join(', ')}`;
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
      if (!restoreFrom || stack.name !== environment.stackId) return 'no restore requested';
      const [cluster] = await existing(context, clusterType);
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
];

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
