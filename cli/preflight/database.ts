import { RDS } from '@aws-sdk/client-rds';
import { unlessRefused } from '../aws';
import { type Answer, type Check, type Context, failed, ok } from './check';

const clusterType = 'AWS::RDS::DBCluster';
const instanceClass = 'db.serverless';
const versionFile = 'lib/database/cluster.ts';

export const databaseChecks: readonly Check[] = [
  {
    // DescribeDBEngineVersions does not tell of the Data API; the options of instances have the field, which may be left out.
    // https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_OrderableDBInstanceOption.html
    id: 'database-engine',
    title: 'database version, serverless',
    async ask({ stack, zones, settings, call }) {
      const { Engine, EngineVersion, EnableHttpEndpoint } = clusterOf(stack);
      const input = { Engine, EngineVersion, DBInstanceClass: instanceClass };
      // RDS's word for a version that it does not have.
      const answer = await unlessRefused(/^InvalidParameter/, () =>
        call('rds:DescribeOrderableDBInstanceOptions', (options) =>
          new RDS(settings).describeOrderableDBInstanceOptions(input, options),
        ),
      );
      const offers = answer?.OrderableDBInstanceOptions ?? [];
      const offered = offers.flatMap(({ AvailabilityZones = [] }) => AvailabilityZones);
      const usable = zones.filter((zone) => offered.some(({ Name }) => Name === zone));
      const version = `${Engine} ${EngineVersion}, ${instanceClass}`;
      if (usable.length === 0)
        return failed(
          `${version} is offered in none of ${zones.join(', ')}`,
          `Choose another version in ${versionFile}: aws rds describe-orderable-db-instance-options --engine ${Engine} --db-instance-class ${instanceClass} --query "OrderableDBInstanceOptions[].EngineVersion" --region ${stack.region}`,
        );
      const found = `${version}: ${usable.join(', ')}`;
      if (EnableHttpEndpoint !== true) return ok(found);
      const support = offers.map(({ SupportsHttpEndpoint }) => SupportsHttpEndpoint);
      if (support.includes(true)) return ok(`${found}, with the RDS Data API`);
      if (!support.includes(false)) return ok(`${found}; RDS does not say whether with its Data API`);
      return failed(
        `${version} has no RDS Data API in ${stack.region}`,
        `Give the environment databaseAccess "direct" in lib/environments.ts, or another version in ${versionFile}.`,
      );
    },
  },
  {
    // RDS takes no older version than the one that runs.
    id: 'database-running',
    title: 'database version that runs',
    async ask({ stack, deployed, settings, call }) {
      const cluster = (await deployed())?.resources.find(({ type }) => type === clusterType);
      if (cluster === undefined) return ok('none runs yet');
      const { DBClusters } = await call('rds:DescribeDBClusters', (options) =>
        new RDS(settings).describeDBClusters({ DBClusterIdentifier: cluster.physicalId }, options),
      );
      const runs = DBClusters?.[0]?.EngineVersion ?? '';
      const { EngineVersion: planned } = clusterOf(stack);
      const found = `${runs} runs, the template has ${planned}`;
      return runs.localeCompare(planned, 'en', { numeric: true }) <= 0
        ? ok(found)
        : failed(found, `Put ${runs} into ${versionFile}: RDS goes back to no older version.`);
    },
  },
  {
    // Whether RDS has what `database.restoreFrom` names, at the template's version: a restore to a moment begins at the source's.
    id: 'restore',
    title: 'where the database is restored from',
    async ask(context) {
      const {
        DBClusterIdentifier,
        SnapshotIdentifier,
        SourceDBClusterIdentifier,
        RestoreToTime,
        EngineVersion,
      } = clusterOf(context.stack);
      if (!SnapshotIdentifier && !SourceDBClusterIdentifier) return ok('the row names nothing');
      // The identifier ends with a hash of the source: lib/environment.ts.
      const suffix = DBClusterIdentifier['Fn::Join'][1].at(-1);
      const cluster = (await context.deployed())?.resources.find(({ type }) => type === clusterType);
      if (cluster?.physicalId.endsWith(suffix)) return ok(`${cluster.physicalId} is restored already`);
      return SnapshotIdentifier
        ? askSnapshot(SnapshotIdentifier, EngineVersion, context)
        : askCluster(SourceDBClusterIdentifier, RestoreToTime, EngineVersion, context);
    },
  },
];

/** As planned. */
const clusterOf = ({ template }: Context['stack']) =>
  Object.values(template.Resources).find(({ Type }) => Type === clusterType)?.Properties ?? {};

async function askSnapshot(
  arn: string,
  planned: string,
  { stack, settings, call }: Context,
): Promise<Answer> {
  const answer = await unlessRefused(/^DBClusterSnapshotNotFoundFault$/, () =>
    call('rds:DescribeDBClusterSnapshots', (options) =>
      new RDS(settings).describeDBClusterSnapshots({ DBClusterSnapshotIdentifier: arn }, options),
    ),
  );
  const list = `aws rds describe-db-cluster-snapshots --region ${stack.region} --query "DBClusterSnapshots[].[DBClusterSnapshotArn,SnapshotCreateTime,Status]"`;
  const snapshot = answer?.DBClusterSnapshots?.[0];
  if (!snapshot) return failed(`${stack.region} has no ${arn}`, `Name another: ${list}`);
  const found = `${arn} is ${snapshot.Status}`;
  if (snapshot.Status !== 'available') return failed(found, `Wait until it is available: ${list}`);
  return ofVersion(found, snapshot.EngineVersion, planned);
}

async function askCluster(
  identifier: string,
  time: string,
  planned: string,
  { stack, settings, call }: Context,
): Promise<Answer> {
  const answer = await unlessRefused(/^DBClusterNotFoundFault$/, () =>
    call('rds:DescribeDBClusters', (options) =>
      new RDS(settings).describeDBClusters({ DBClusterIdentifier: identifier }, options),
    ),
  );
  const cluster = answer?.DBClusters?.[0];
  if (!cluster)
    return failed(
      `${stack.region} has no cluster ${identifier}`,
      `Name another: aws rds describe-db-clusters --region ${stack.region} --query "DBClusters[].DBClusterIdentifier"`,
    );
  const { EarliestRestorableTime: earliest, LatestRestorableTime: latest, EngineVersion } = cluster;
  const found = `${identifier} can be restored from ${earliest?.toISOString()} to ${latest?.toISOString()}`;
  const wanted = new Date(time);
  if (earliest && latest && earliest <= wanted && wanted <= latest)
    return ofVersion(found, EngineVersion, planned);
  return failed(
    `${found}, the row has ${time}`,
    'Give a time between them; the latest is about five minutes ago. For an earlier one, restore a snapshot.',
  );
}

const ofVersion = (found: string, version: string | undefined, planned: string): Answer =>
  version === planned
    ? ok(`${found}, version ${version}`)
    : failed(
        `${found}, but is of version ${version}; the template has ${planned}`,
        `Put ${version} into ${versionFile} for this deployment, and upgrade afterwards.`,
      );
