import type { OrderableDBInstanceOption } from '@aws-sdk/client-rds';
import { collect } from '../../pages';
import { CallFailed } from '../call';
import { type Check, type Context, failed, notAsked, ok } from '../check';
import { type PlannedStack, resourcesOf } from '../plan';

const instanceClass = 'db.serverless';
export const clusterType = 'AWS::RDS::DBCluster';

/** https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeOrderableDBInstanceOptions.html */
const engine: Check = {
  id: 'database-engine',
  title: 'database version, serverless',
  scope: 'stack',
  async ask(context) {
    const { stack } = context;
    const { Engine, EngineVersion } = clusterOf(stack);
    const offered = new Set(
      (await optionsOf(context)).flatMap(({ AvailabilityZones = [] }) =>
        AvailabilityZones.flatMap(({ Name }) => Name ?? []),
      ),
    );
    const zones = stack.zones.filter((zone) => offered.has(zone));
    const found = `${Engine} ${EngineVersion}, ${instanceClass}`;
    if (zones.length > 0) return ok(`${found}: ${zones.join(', ')}`);
    return failed(
      `${found} is offered in none of ${stack.zones.join(', ')}`,
      `Choose another version in lib/database/foundation.ts: aws rds describe-orderable-db-instance-options --engine ${Engine} --db-instance-class ${instanceClass} --query "OrderableDBInstanceOptions[].EngineVersion" --region ${stack.region}`,
    );
  },
};

/**
 * DescribeDBEngineVersions does not tell of it; the options of instances have the field, which may be left out.
 * https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_OrderableDBInstanceOption.html
 */
const dataApi: Check = {
  id: 'data-api',
  title: 'RDS Data API',
  scope: 'stack',
  async ask(context) {
    const { stack } = context;
    const { Engine, EngineVersion, EnableHttpEndpoint } = clusterOf(stack);
    if (EnableHttpEndpoint !== true) return ok('the stack does not use it');
    const supports = (await optionsOf(context)).map(({ SupportsHttpEndpoint }) => SupportsHttpEndpoint);
    const found = `${Engine} ${EngineVersion} in ${stack.region}`;
    if (supports.includes(true)) return ok(`supported for ${found}`);
    if (supports.includes(false))
      return failed(
        `not supported for ${found}`,
        'Give the environment databaseAccess "direct" in lib/environments.ts, or another version in lib/database/foundation.ts.',
      );
    return notAsked(
      `RDS does not say whether it is supported for ${found}: see https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Concepts.Aurora_Fea_Regions_DB-eng.Feature.Data_API.html`,
    );
  },
};

/** RDS takes no older version than the one that runs, which automatic minor upgrades may have raised. */
const running: Check = {
  id: 'database-running',
  title: 'database version that runs',
  scope: 'stack',
  async ask({ stack, deployedResources, clientSettings, call }) {
    const cluster = (await deployedResources()).find(({ type }) => type === clusterType);
    if (cluster === undefined) return ok('none runs yet');
    const { DescribeDBClustersCommand, RDSClient } = await import('@aws-sdk/client-rds');
    const client = new RDSClient(clientSettings);
    const { DBClusters } = await call('rds:DescribeDBClusters', (options) =>
      client.send(new DescribeDBClustersCommand({ DBClusterIdentifier: cluster.physicalId }), options),
    );
    const runs = DBClusters?.[0]?.EngineVersion ?? '';
    const { EngineVersion: planned } = clusterOf(stack);
    const found = `${runs} runs, the template has ${planned}`;
    if (!isNewer(runs, planned)) return ok(found);
    return failed(found, `Put ${runs} into lib/database/foundation.ts: RDS goes back to no older version.`);
  },
};

/** The properties of the stack's cluster, as planned. */
export const clusterOf = (stack: PlannedStack) => resourcesOf(stack, clusterType)[0]?.properties ?? {};

async function optionsOf({
  stack,
  clientSettings,
  call,
}: Context): Promise<readonly OrderableDBInstanceOption[]> {
  const { Engine, EngineVersion } = clusterOf(stack);
  const { paginateDescribeOrderableDBInstanceOptions, RDSClient } = await import('@aws-sdk/client-rds');
  const client = new RDSClient(clientSettings);
  const input = { Engine, EngineVersion, DBInstanceClass: instanceClass };
  try {
    return await call('rds:DescribeOrderableDBInstanceOptions', (options) =>
      collect(
        paginateDescribeOrderableDBInstanceOptions({ client }, input, options),
        (page) => page.OrderableDBInstanceOptions,
      ),
    );
  } catch (error) {
    // RDS's word for a version that it does not have.
    if (error instanceof CallFailed && error.errorName.startsWith('InvalidParameter')) return [];
    throw error;
  }
}

/** Whether `17.10` is newer than `17.9`. */
function isNewer(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split('.').map(Number));
  for (let part = 0; part < Math.max(left?.length ?? 0, right?.length ?? 0); part++) {
    const difference = (left?.[part] ?? 0) - (right?.[part] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

export const databaseChecks: readonly Check[] = [engine, dataApi, running];
