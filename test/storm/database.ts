import { join } from 'node:path';
import type { TransactionalDatabase } from '../../lambda/database/database';
import { createDirectDatabase } from '../../lambda/database/direct';
import { type DatabaseRole, databaseRoles } from '../../lambda/database/environment';
import { sql } from '../../lambda/database/sql';
import { migrateSchema } from '../../lambda/migrate-schema/migrate-schema';
import type { Cleanup } from '../../lib/local/cleanup';
import { startDatabaseEndpoint } from '../../lib/local/database-endpoint/server';
import { localCertificate } from '../../lib/local/network/certificates';
import { functionCredentials } from '../../lib/local/services/services';
import { readMigrations } from '../support/migration-files';
import { startPostgres } from '../support/postgres';

export interface StormDatabase {
  /** The schema's owner. */
  readonly owner: TransactionalDatabase;
  /** The variables by which a function signs in as its role. */
  variables(role: DatabaseRole): Record<string, string>;
}

/** A real PostgreSQL with the product's schema, behind TLS, where functions sign in with IAM tokens. */
export async function startDatabase(
  cleanup: Cleanup,
  options: { readonly directory: string; readonly region: string },
): Promise<StormDatabase> {
  const postgres = await startPostgres();
  cleanup.add(postgres.stop);
  const certificate = await localCertificate({ directory: join(options.directory, 'certificates') });
  const endpoint = await startDatabaseEndpoint({
    postgres,
    certificate,
    region: options.region,
    credentials: {
      accessKeyId: functionCredentials.AWS_ACCESS_KEY_ID,
      secretAccessKey: functionCredentials.AWS_SECRET_ACCESS_KEY,
      sessionToken: functionCredentials.AWS_SESSION_TOKEN,
    },
  });
  cleanup.add(endpoint.close);
  const { host, port } = endpoint;
  const { database } = postgres;
  const owner = createDirectDatabase({
    host,
    port,
    database,
    user: postgres.superuser,
    password: () => postgres.password,
    callTimeout: 60_000,
    certificateAuthority: certificate.ca,
  });
  cleanup.add(owner.close);
  await owner.execute(sql`create role rds_iam`);
  const roles = databaseRoles.map((name) => ({ name }));
  const migrated = await migrateSchema(owner, readMigrations(), roles);
  if (!migrated.ok) throw new Error(JSON.stringify(migrated.error));
  return {
    owner,
    variables: (role) => ({
      DATABASE_ACCESS: 'direct',
      DATABASE_HOST: host,
      DATABASE_PORT: String(port),
      DATABASE_NAME: database,
      DATABASE_USER: role,
      NODE_EXTRA_CA_CERTS: certificate.caFile,
    }),
  };
}
