import type { Cleanup } from '../cleanup';
import type { DatabaseTarget } from '../data-api/connections';
import { startDatabaseEndpoint } from '../database-endpoint/server';
import type { AccessControl } from '../iam/access';
import type { LocalCertificate } from '../network/certificates';
import type { Postgres } from '../postgres/postgres';
import { ensureDatabase } from './database';
import type { Provision } from './deployment';
import { arn, resourceHash, type StackIdentity } from './names';
import type { Secrets } from './secrets';

/** A cluster as the Data API knows it. */
export interface DataApiCluster {
  readonly arn: string;
  /** Undefined when there is no such secret. */
  target(secretArn: string, database: string | undefined): DatabaseTarget | undefined;
}

export interface DatabaseClusterSetting {
  readonly stack: StackIdentity;
  readonly secrets: Secrets;
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  /** Whose sign-in tokens the cluster accepts, and as which roles. */
  readonly access: Pick<AccessControl, 'authorize' | 'findAccessKey'>;
  /** Gets the reason of each refused sign-in. */
  readonly onRefusal: (reason: string) => void;
  /** Makes a cluster known to the Data API. */
  readonly register: (cluster: DataApiCluster) => void;
  /** Called when the database is new: what the state remembers of an earlier one is wrong then. */
  readonly onCreated: () => void;
  readonly cleanup: Cleanup;
}

interface ClusterProperties {
  readonly DBClusterIdentifier?: string;
  readonly DatabaseName?: string;
  readonly MasterUsername?: string;
  readonly MasterUserPassword: string;
  readonly EnableHttpEndpoint?: boolean;
  readonly EnableIAMDatabaseAuthentication?: boolean;
}

/** `AWS::RDS::DBCluster`: a PostgreSQL, reached only in the ways that the template allows. */
export function provisionDatabaseCluster(setting: DatabaseClusterSetting): Provision {
  return async ({ logicalId, properties }) => {
    const cluster = properties as unknown as ClusterProperties;
    // A cluster that began as a replica or is restored has both from its data; here it may begin empty all the same.
    const { DatabaseName: database = 'wallet', MasterUsername: username = 'wallet_owner' } = cluster;
    const { stack } = setting;
    const postgres = await setting.postgres;
    const owner = { username, password: cluster.MasterUserPassword };
    if (await ensureDatabase(postgres, { name: database, owner })) setting.onCreated();

    const identifier = (cluster.DBClusterIdentifier ?? `${stack.name}-${logicalId}`).toLowerCase();
    const clusterArn = arn(stack, 'rds', `cluster:${identifier}`);
    const resourceId = `cluster-${resourceHash(stack, logicalId).slice(0, 26).toUpperCase()}`;
    if (cluster.EnableHttpEndpoint) registerForDataApi(clusterArn, database, postgres, setting);
    const endpoint = cluster.EnableIAMDatabaseAuthentication
      ? await startEndpoint(postgres, resourceId, setting)
      : postgres;
    return {
      ref: identifier,
      attributes: {
        DBClusterArn: clusterArn,
        DBClusterResourceId: resourceId,
        'Endpoint.Address': endpoint.host,
        'Endpoint.Port': String(endpoint.port),
      },
    };
  };
}

function registerForDataApi(
  clusterArn: string,
  defaultDatabase: string,
  { host, port }: Postgres,
  { secrets, register }: DatabaseClusterSetting,
): void {
  register({
    arn: clusterArn,
    target(secretArn, database = defaultDatabase) {
      const secret = secrets.value(secretArn);
      if (secret === undefined) return undefined;
      const { username, password } = JSON.parse(secret) as { username: string; password: string };
      return { host, port, user: username, password, database };
    },
  });
}

async function startEndpoint(postgres: Postgres, resourceId: string, setting: DatabaseClusterSetting) {
  const { certificate, access, onRefusal, stack } = setting;
  const endpoint = await startDatabaseEndpoint({
    postgres,
    certificate,
    region: stack.region,
    findAccessKey: access.findAccessKey,
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAMDBAuth.IAMPolicy.html
    authorize: (accessKeyId, user) => {
      const resource = arn(stack, 'rds-db', `dbuser:${resourceId}/${user}`);
      return access.authorize({ accessKeyId, action: 'rds-db:connect', resource });
    },
    onRefusal,
  });
  setting.cleanup.add(() => endpoint.close());
  return endpoint;
}
