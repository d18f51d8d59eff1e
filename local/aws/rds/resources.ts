import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { arn, resourceHash } from '../../assembly/manifest';
import { clientSettings, type Postgres } from '../../postgres/postgres';
import type { LocalResource, ResourceRequest, ResourceTypes, StackParts } from '../resource';
import type { LocalCertificate } from './certificate';
import type { DatabaseLogin } from './data-api-service';

export interface ClusterNeeds extends StackParts {
  /** Serves this stack only. */
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  /** Clusters with the Data API, by ARN, and their default database. */
  readonly clusters: Map<string, Pick<DatabaseLogin, 'host' | 'port' | 'database'>>;
  /** Addresses for clients that sign in with IAM tokens, by environment, as libpq's URLs. */
  readonly databases: Map<string, string>;
}

/** A PostgreSQL with only the endpoints that the template enables. */
async function createCluster(
  { logicalId, properties }: ResourceRequest,
  needs: ClusterNeeds,
): Promise<LocalResource> {
  const { stack, certificate, clusters, databases } = needs;
  const { DBClusterIdentifier = `${stack.name}-${logicalId}`, MasterUserPassword: password } = properties;
  // A replica or restored cluster has both in its data; here it may start empty.
  const { DatabaseName: defaultDatabase = 'wallet', MasterUsername: username = 'wallet_owner' } = properties;
  const postgres = await needs.postgres;
  await ensureDatabase(postgres, defaultDatabase, { username, password });
  const { port } = postgres;
  const identifier = DBClusterIdentifier.toLowerCase();
  const clusterArn = arn(stack, 'rds', `cluster:${identifier}`);
  const resourceId = `cluster-${resourceHash(stack, logicalId).slice(0, 26).toUpperCase()}`;
  if (properties.EnableHttpEndpoint) {
    clusters.set(clusterArn, { host: postgres.host, port, database: defaultDatabase });
  }
  if (properties.EnableIAMDatabaseAuthentication) {
    const authority = encodeURIComponent(certificate.certFile);
    const url = `postgresql://localhost:${port}/${defaultDatabase}?sslmode=verify-full&sslrootcert=${authority}`;
    databases.set(stack.environment, url);
  }
  return {
    ref: identifier,
    attributes: {
      DBClusterArn: clusterArn,
      DBClusterResourceId: resourceId,
      // As in the certificate.
      'Endpoint.Address': 'localhost',
      'Endpoint.Port': String(port),
    },
  };
}

export const rdsResources: ResourceTypes<ClusterNeeds> = { 'AWS::RDS::DBCluster': ['*', createCluster] };

/**
 * Initializes a PostgreSQL like a new Aurora cluster: the roles `rds_iam` and `rds_superuser`, one database, and its owner, who may create
 * roles and databases but is not a superuser.
 *
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.MasterAccounts.html
 */
export async function ensureDatabase(
  { host, port, superuser: user, password }: Pick<Postgres, 'host' | 'port' | 'superuser' | 'password'>,
  database: string,
  owner: { readonly username: string; readonly password: string },
): Promise<void> {
  const client = new Client({
    ...clientSettings,
    host,
    port,
    user,
    password,
    database: 'template1',
    connectionTimeoutMillis: 10_000,
  });
  const exists = async (query: string, name: string) => (await client.query(query, [name])).rowCount === 1;
  // Its queries reject; without a listener, the error would count as one that nothing catches.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const role = escapeIdentifier(owner.username);
    for (const [name, statement] of [
      ['rds_iam', 'create role rds_iam nologin'],
      ['rds_superuser', 'create role rds_superuser nologin'],
      [owner.username, `create role ${role}`],
    ] as const) {
      if (!(await exists('select from pg_roles where rolname = $1', name))) await client.query(statement);
    }
    await client.query(
      `alter role ${role} login createdb createrole password ${escapeLiteral(owner.password)}`,
    );
    await client.query(`grant rds_superuser to ${role}`);
    await client.query(`grant rds_iam to ${role} with admin option, inherit false, set false`);
    const isDatabase = (name: string) => exists('select from pg_database where datname = $1', name);
    if (await isDatabase(database)) return;
    const own = escapeIdentifier(database);
    // The empty one of `initdb`, if it is left: a new one is written twice, which takes longer than all else here.
    const rename = `alter database postgres owner to ${role}; alter database postgres rename to ${own}`;
    await client.query((await isDatabase('postgres')) ? rename : `create database ${own} owner ${role}`);
  } finally {
    await client.end();
  }
}
