import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { Signer } from '@aws-sdk/rds-signer';
import { createDataApiDatabase } from '../../lambda/database/data-api';
import { type Database, type Row, sql, type TransactionalDatabase } from '../../lambda/database/database';
import { createDirectDatabase } from '../../lambda/database/direct';
import { type DatabaseAccess, type DatabaseRole, databaseRoles } from '../../lambda/database/environment';
import { migrateSchema } from '../../lambda/migrate-schema/migrate-schema';
import { localCertificate } from '../../local/network/certificates';
import { startDatabaseEndpoint } from '../../local/postgres/endpoint';
import { startDataApi } from './local-services';
import { readMigrations } from './migration-files';
import { rows } from './organization';
import { startPostgres, type TestPostgres } from './postgres';

/** A real PostgreSQL as a region has it, reached by the product's own adapters. */
export interface RegionDatabase {
  readonly postgres: TestPostgres;
  /** The schema's owner. */
  readonly owner: TransactionalDatabase;
  /** The rows of a statement of the owner, which must succeed. */
  query(...statement: Parameters<typeof sql>): Promise<readonly Row[]>;
  /** Another connection of a function's role. */
  as(role: DatabaseRole): Database;
  /** Applies every migration and makes the roles. */
  migrate(): Promise<void>;
  stop(): Promise<void>;
}

const region = 'eu-central-1';
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const rolePassword = 'only-for-this-test';
const clusterArn = `arn:aws:rds:${region}:000000000000:cluster:test`;
const secretPrefix = `arn:aws:secretsmanager:${region}:000000000000:secret:`;

/** Starts an empty database: call `migrate` for the schema. It takes about a second. */
export async function startRegionDatabase(access: DatabaseAccess): Promise<RegionDatabase> {
  const postgres = await startPostgres();
  const connect = await (access === 'data-api' ? serveDataApi : serveDirect)(postgres).catch(
    async (error) => {
      await postgres.stop();
      throw error;
    },
  );
  const owner = connect.as(postgres.superuser);
  return {
    postgres,
    owner,
    query: (...statement) => rows(owner, sql(...statement)),
    as: (role) => connect.as(role),
    async migrate() {
      const roles = databaseRoles.map((name) =>
        access === 'data-api' ? { name, password: rolePassword } : { name },
      );
      const migrated = await migrateSchema(owner, readMigrations(), roles);
      if (!migrated.ok) throw new Error(JSON.stringify(migrated.error));
    },
    async stop() {
      await connect.close();
      await postgres.stop();
    },
  };
}

/**
 * A region's database with the schema of the product.
 *
 * @param access @default - the one that most environments have
 */
export async function startMigratedDatabase(access: DatabaseAccess = 'data-api'): Promise<RegionDatabase> {
  const region = await startRegionDatabase(access);
  await region.migrate().catch(async (error) => {
    await region.stop();
    throw error;
  });
  return region;
}

/** As `startMigratedDatabase`, for the tests of the file or block that calls it. */
export function useMigratedDatabase(
  ...args: Parameters<typeof startMigratedDatabase>
): Pick<RegionDatabase, 'postgres' | 'owner' | 'query' | 'as'> {
  let region: RegionDatabase;
  beforeAll(async () => {
    region = await startMigratedDatabase(...args);
  });
  afterAll(() => region.stop());
  return {
    get postgres() {
      return region.postgres;
    },
    get owner() {
      return region.owner;
    },
    query: (...statement) => region.query(...statement),
    as: (role) => region.as(role),
  };
}

interface Connections {
  as(user: string): TransactionalDatabase;
  close(): Promise<void>;
}

async function serveDataApi(postgres: TestPostgres): Promise<Connections> {
  const dataApi = await startDataApi({
    resolve({ secretArn }) {
      const { host, port, database, superuser, password } = postgres;
      const user = secretArn.slice(secretPrefix.length);
      return { host, port, database, user, password: user === superuser ? password : rolePassword };
    },
  });
  const client = new RDSDataClient({ region, endpoint: dataApi.url, credentials, maxAttempts: 1 });
  return {
    as: (user) =>
      createDataApiDatabase(
        {
          clusterArn,
          secretArn: `${secretPrefix}${user}`,
          database: postgres.database,
          resumeTimeout: 1000,
        },
        client,
      ),
    async close() {
      client.destroy();
      await dataApi.close();
    },
  };
}

async function serveDirect(postgres: TestPostgres): Promise<Connections> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-test-'));
  const certificate = await localCertificate({ directory });
  const endpoint = await startDatabaseEndpoint({
    postgres,
    certificate,
    region,
    findAccessKey: () => credentials,
  });
  const open: { close(): Promise<void> }[] = [];
  const connect = (user: string, password: () => string | Promise<string>) => {
    const { host, port } = endpoint;
    const database = createDirectDatabase({
      host,
      port,
      user,
      password,
      database: postgres.database,
      certificateAuthorities: certificate.cert,
    });
    open.push(database);
    return database;
  };
  const owner = connect(postgres.superuser, () => postgres.password);
  await owner.execute(sql`create role rds_iam`);
  return {
    as(user) {
      if (user === postgres.superuser) return owner;
      const signer = new Signer({
        hostname: endpoint.host,
        port: endpoint.port,
        username: user,
        region,
        credentials,
      });
      return connect(user, () => signer.getAuthToken());
    },
    async close() {
      await Promise.all(open.map((database) => database.close()));
      await endpoint.close();
      await rm(directory, { recursive: true });
    },
  };
}
