import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TransactionalDatabase } from '../../../lambda/database/database';
import { createDirectDatabase } from '../../../lambda/database/direct';
import { type DatabaseAccess, type DatabaseRole, databaseRoles } from '../../../lambda/database/environment';
import { migrateSchema } from '../../../lambda/migrate-schema/migrate-schema';
import type { Cleanup } from '../../../local/cleanup';
import { localCertificate } from '../../../local/network/certificates';
import { startDatabaseEndpoint } from '../../../local/postgres/endpoint';
import { functionCredentials } from '../../../local/services/services';
import { startDataApi } from '../../support/local-services';
import { readMigrations } from '../../support/migration-files';
import { startPostgres } from '../../support/postgres';
import { region } from './region';
import { startSlowProxy, startSlowRelay } from './slow-relay';

const rolePassword = 'only-on-this-machine';
const secretPrefix = `arn:aws:secretsmanager:${region}:000000000000:secret:`;

/** A real PostgreSQL with the product's schema, reached as a region's functions reach theirs. */
export interface RunDatabase {
  /** The superuser's connection. */
  readonly client: Client;
  /** The schema's owner, by the product's direct adapter. */
  readonly owner: TransactionalDatabase;
  /** The variables of a function that signs in as this role. */
  variables(role: DatabaseRole): Record<string, string>;
}

export interface DatabaseOptions {
  /** For certificates. */
  readonly directory: string;
  readonly access: DatabaseAccess;
  /** Whether a commit waits for the disk. @default false */
  readonly durable?: boolean;
  /** Milliseconds between functions and the database, there and back. @default 0 */
  readonly roundTripMs?: number;
  /** Ends the superuser's connection, which may be filling tables for minutes. */
  readonly signal?: AbortSignal | undefined;
}

export async function startDatabase(cleanup: Cleanup, options: DatabaseOptions): Promise<RunDatabase> {
  const { directory, access, durable = false, roundTripMs = 0, signal } = options;
  const postgres = await startPostgres({ durable });
  cleanup.add(postgres.stop);
  const { host, port, database, superuser, password } = postgres;
  const client = new Client({ host, port, database, user: superuser, password });
  await client.connect();
  const end = () => client.end();
  cleanup.add(end);
  signal?.addEventListener('abort', end);
  signal?.throwIfAborted();

  const certificate = await localCertificate({ directory: join(directory, 'certificates') });
  const socketDirectory = roundTripMs > 0 ? join(directory, 'socket') : postgres.socketDirectory;
  if (roundTripMs > 0) {
    // Tokens are for the endpoint's port, so the network is behind it.
    mkdirSync(socketDirectory);
    const socket = `.s.PGSQL.${port}`;
    const server = { path: join(postgres.socketDirectory, socket) };
    await startSlowRelay(cleanup, { listen: { path: join(socketDirectory, socket) }, server, roundTripMs });
  }
  const endpoint = await startDatabaseEndpoint({
    postgres: { ...postgres, socketDirectory },
    certificate,
    region,
    findAccessKey: (accessKeyId) => ({
      accessKeyId,
      secretAccessKey: functionCredentials.AWS_SECRET_ACCESS_KEY,
      sessionToken: functionCredentials.AWS_SESSION_TOKEN,
    }),
  });
  cleanup.add(endpoint.close);
  const dataApi = await startDataApi({
    resolve: ({ secretArn }) => ({
      ...{ host, port, database, password: rolePassword },
      user: secretArn.slice(secretPrefix.length),
    }),
  });
  cleanup.add(() => dataApi.close());
  const dataApiUrl = roundTripMs > 0 ? await startSlowProxy(cleanup, dataApi.url, roundTripMs) : dataApi.url;
  const owner = createDirectDatabase({
    host: endpoint.host,
    port: endpoint.port,
    database,
    user: superuser,
    password: () => password,
    callTimeout: 60_000,
    certificateAuthorities: certificate.cert,
  });
  cleanup.add(owner.close);

  await client.query('create role rds_iam');
  const roles = databaseRoles.map((name) =>
    access === 'data-api' ? { name, password: rolePassword } : { name },
  );
  const migrated = await migrateSchema(owner, readMigrations(), roles);
  if (!migrated.ok) throw new Error(JSON.stringify(migrated.error));
  return {
    client,
    owner,
    variables: (role) => ({
      ...functionCredentials,
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      DATABASE_ACCESS: access,
      DATABASE_NAME: database,
      ...(access === 'data-api'
        ? {
            AWS_ENDPOINT_URL_RDS_DATA: dataApiUrl,
            DATABASE_CLUSTER_ARN: `arn:aws:rds:${region}:000000000000:cluster:runs`,
            DATABASE_SECRET_ARN: `${secretPrefix}${role}`,
          }
        : {
            DATABASE_HOST: endpoint.host,
            DATABASE_PORT: String(endpoint.port),
            DATABASE_USER: role,
            DATABASE_CERTIFICATE_AUTHORITIES: certificate.certFile,
          }),
    }),
  };
}
