import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TransactionalDatabase } from '../../lambda/database/database';
import { createDirectDatabase } from '../../lambda/database/direct';
import { type DatabaseAccess, type DatabaseRole, databaseRoles } from '../../lambda/database/environment';
import { migrateSchema } from '../../lambda/migrate-schema/migrate-schema';
import type { Cleanup } from '../../lib/local/cleanup';
import { startDataApi } from '../../lib/local/data-api';
import { startDatabaseEndpoint } from '../../lib/local/database-endpoint/server';
import { localCertificate } from '../../lib/local/network/certificates';
import { functionCredentials } from '../../lib/local/services/services';
import { readMigrations } from '../support/migration-files';
import { startPostgres, type TestPostgres } from '../support/postgres';

export const region = 'eu-central-1';
const rolePassword = 'only-on-this-machine';
const clusterArn = `arn:aws:rds:${region}:000000000000:cluster:bench`;
const secretPrefix = `arn:aws:secretsmanager:${region}:000000000000:secret:`;

/** A real PostgreSQL with the product's schema, reached as a region's functions reach theirs. */
export interface BenchRegion {
  /** The superuser, past every adapter: for filling and looking. */
  readonly client: Client;
  /** What a function with this role is told by its environment. */
  variables(role: DatabaseRole): Record<string, string>;
}

/**
 * @param options `durable`: whether a commit waits for the disk, as in `npm start` and not in the tests; `signal` ends
 * what the superuser's connection does at that moment, which may be to fill tables for minutes
 */
export async function startRegion(
  cleanup: Cleanup,
  access: DatabaseAccess,
  { durable, signal }: { readonly durable: boolean; readonly signal: AbortSignal },
): Promise<BenchRegion> {
  const postgres = await startPostgres({ durable });
  cleanup.add(postgres.stop);
  const { host, port, database, superuser: user, password } = postgres;
  const client = new Client({ host, port, database, user, password });
  await client.connect();
  const end = () => client.end();
  cleanup.add(end);
  signal.addEventListener('abort', end);
  signal.throwIfAborted();
  const { url, owner, variables } = await serve(cleanup, postgres);
  await client.query('create role rds_iam');
  const roles = databaseRoles.map((name) =>
    access === 'data-api' ? { name, password: rolePassword } : { name },
  );
  const migrated = await migrateSchema(owner, readMigrations(), roles);
  if (!migrated.ok) throw new Error(JSON.stringify(migrated.error));

  return {
    client,
    variables: (role) => ({
      ...functionCredentials,
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      DATABASE_ACCESS: access,
      DATABASE_NAME: database,
      ...(access === 'data-api'
        ? {
            AWS_ENDPOINT_URL_RDS_DATA: url,
            DATABASE_CLUSTER_ARN: clusterArn,
            DATABASE_SECRET_ARN: `${secretPrefix}${role}`,
          }
        : { ...variables, DATABASE_USER: role }),
    }),
  };
}

/** Both ways to the database; the owner goes by the direct one. */
async function serve(
  cleanup: Cleanup,
  postgres: TestPostgres,
): Promise<{ url: string; owner: TransactionalDatabase; variables: Record<string, string> }> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-bench-'));
  cleanup.add(() => rm(directory, { recursive: true }));
  const certificate = await localCertificate({ directory });
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = functionCredentials;
  const endpoint = await startDatabaseEndpoint({
    postgres,
    certificate,
    region,
    credentials: {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      sessionToken: AWS_SESSION_TOKEN,
    },
  });
  cleanup.add(endpoint.close);
  const { host, port, database } = postgres;
  const dataApi = await startDataApi({
    resolve: ({ secretArn }) => ({
      host,
      port,
      database,
      user: secretArn.slice(secretPrefix.length),
      password: rolePassword,
    }),
  });
  cleanup.add(() => dataApi.close());
  const owner = createDirectDatabase({
    host: endpoint.host,
    port: endpoint.port,
    database,
    user: postgres.superuser,
    password: () => postgres.password,
    certificateAuthority: certificate.ca,
  });
  cleanup.add(owner.close);
  return {
    url: dataApi.url,
    owner,
    variables: {
      DATABASE_HOST: endpoint.host,
      DATABASE_PORT: String(endpoint.port),
      NODE_EXTRA_CA_CERTS: certificate.caFile,
    },
  };
}
