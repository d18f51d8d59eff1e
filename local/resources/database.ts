import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import type { Cleanup } from '../cleanup';
import { arn, resourceHash, type StackIdentity } from '../names';
import type { LocalCertificate } from '../network/certificates';
import type { Permissions } from '../permissions/permissions';
import { startDatabaseEndpoint } from '../postgres/endpoint';
import type { Postgres } from '../postgres/postgres';
import type { DataApiCluster } from '../services/services';
import type { Provision } from './deployment';

export interface ClusterOptions {
  readonly stack: StackIdentity;
  /** The value of a secret, by ARN; undefined when there is none. */
  readonly secretValue: (secretArn: string) => string | undefined;
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  /** Whose sign-in tokens the cluster accepts, and as which roles. */
  readonly permissions: Pick<Permissions, 'authorize' | 'findAccessKey'>;
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
export function provisionCluster(options: ClusterOptions): Provision {
  return async ({ logicalId, properties }) => {
    const cluster = properties as unknown as ClusterProperties;
    // A cluster that began as a replica or is restored has both from its data; here it may begin empty all the same.
    const { DatabaseName: database = 'wallet', MasterUsername: username = 'wallet_owner' } = cluster;
    const { stack } = options;
    const postgres = await options.postgres;
    const owner = { username, password: cluster.MasterUserPassword };
    if (await ensureDatabase(postgres, { name: database, owner })) options.onCreated();

    const identifier = (cluster.DBClusterIdentifier ?? `${stack.name}-${logicalId}`).toLowerCase();
    const clusterArn = arn(stack, 'rds', `cluster:${identifier}`);
    const resourceId = `cluster-${resourceHash(stack, logicalId).slice(0, 26).toUpperCase()}`;
    if (cluster.EnableHttpEndpoint) registerForDataApi(clusterArn, database, postgres, options);
    const endpoint = cluster.EnableIAMDatabaseAuthentication
      ? await startEndpoint(postgres, resourceId, options)
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
  { secretValue, register }: ClusterOptions,
): void {
  register({
    arn: clusterArn,
    target(secretArn, database = defaultDatabase) {
      const secret = secretValue(secretArn);
      if (secret === undefined) return undefined;
      const { username, password } = JSON.parse(secret) as { username: string; password: string };
      return { host, port, user: username, password, database };
    },
  });
}

async function startEndpoint(postgres: Postgres, resourceId: string, options: ClusterOptions) {
  const { certificate, permissions, onRefusal, stack } = options;
  const endpoint = await startDatabaseEndpoint({
    postgres,
    certificate,
    region: stack.region,
    findAccessKey: permissions.findAccessKey,
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAMDBAuth.IAMPolicy.html
    authorize: (accessKeyId, user) => {
      const resource = arn(stack, 'rds-db', `dbuser:${resourceId}/${user}`);
      return permissions.authorize({ accessKeyId, action: 'rds-db:connect', resource });
    },
    onRefusal,
  });
  options.cleanup.add(() => endpoint.close());
  return endpoint;
}

interface StackDatabase {
  readonly name: string;
  readonly owner: { readonly username: string; readonly password: string };
}

/**
 * Gives a PostgreSQL what a new Aurora cluster has: the role `rds_iam`, one database, and its owner, who may create
 * roles and databases but is no superuser.
 *
 * Source: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.MasterAccounts.html
 *
 * @returns whether the database is new
 */
export async function ensureDatabase(postgres: Postgres, { name, owner }: StackDatabase): Promise<boolean> {
  const client = new Client({
    host: postgres.host,
    port: postgres.port,
    user: postgres.superuser,
    password: postgres.password,
    database: 'postgres',
    connectionTimeoutMillis: 10_000,
  });
  const isThere = async (query: string, value: string) => (await client.query(query, [value])).rowCount === 1;
  await client.connect();
  try {
    const role = escapeIdentifier(owner.username);
    for (const [missing, statement] of [
      ['rds_iam', 'create role rds_iam nologin'],
      [owner.username, `create role ${role}`],
    ] as const) {
      if (!(await isThere('select from pg_roles where rolname = $1', missing))) await client.query(statement);
    }
    await client.query(
      `alter role ${role} login createdb createrole password ${escapeLiteral(owner.password)}`,
    );
    await client.query(`grant rds_iam to ${role} with admin option, inherit false, set false`);
    if (await isThere('select from pg_database where datname = $1', name)) return false;
    await client.query(`create database ${escapeIdentifier(name)} owner ${role}`);
    return true;
  } finally {
    await client.end();
  }
}
