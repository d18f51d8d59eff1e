import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { Signer } from '@aws-sdk/rds-signer';
import { Client } from 'pg';
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
import { sharedPostgres } from './shared-postgres';

/** A database, and its superuser connection. `stop` removes it. */
type TestDatabase = Pick<
  TestPostgres,
  'host' | 'port' | 'superuser' | 'password' | 'socketDirectory' | 'stop'
> & { readonly database: string };

/** A region's database in a real PostgreSQL, accessed through the product's adapters. */
export interface RegionDatabase {
  readonly postgres: TestDatabase;
  /** The schema's owner. */
  readonly owner: TransactionalDatabase;
  /** The rows of a statement of the owner, which must succeed. */
  query(...statement: Parameters<typeof sql>): Promise<readonly Row[]>;
  /** Another connection of a function's role. */
  as(role: DatabaseRole): Database;
  /** Applies every migration and creates the roles. */
  migrate(): Promise<void>;
  stop(): Promise<void>;
}

const region = 'eu-central-1';
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
/** Aurora has it; databases of one server share it. */
const createIamRole = sql`
  do $$ begin
    create role rds_iam;
  exception when duplicate_object then null;
  end $$`;
const rolePassword = 'only-for-this-test';
const clusterArn = `arn:aws:rds:${region}:000000000000:cluster:test`;
const secretPrefix = `arn:aws:secretsmanager:${region}:000000000000:secret:`;

/** A region's database on its own server, empty: call `migrate` for the schema. Takes about a second. */
export async function startRegionDatabase(access: DatabaseAccess): Promise<RegionDatabase> {
  const postgres = await startPostgres();
  return openRegion(access, postgres).catch(async (error) => {
    await postgres.stop();
    throw error;
  });
}

/**
 * A region's database with the schema of the product, on a server that the test files of a run share: tests that change
 * roles or disturb the server start their own.
 *
 * @param access @default - that of most environments
 */
export const startMigratedDatabase = async (access: DatabaseAccess = 'data-api'): Promise<RegionDatabase> =>
  openRegion(access, await copyMigratedDatabase(access));

/** A new database on the shared server, copied from a template that the first test file migrates. */
async function copyMigratedDatabase(access: DatabaseAccess): Promise<TestDatabase> {
  const server = await sharedPostgres(access);
  const database = `test_${randomBytes(8).toString('hex')}`;
  await asSuperuser(server, async (client) => {
    // One test file at a time.
    await client.query('select pg_advisory_lock(1)');
    const found = await client.query(`select from pg_database where datname = 'migrated'`);
    if (found.rowCount === 0) {
      await client.query('drop database if exists draft with (force)');
      await client.query('create database draft');
      const region = await openRegion(access, { ...server, database: 'draft', stop: async () => undefined });
      await region.migrate().finally(region.stop);
      await client.query('alter database draft rename to migrated');
    }
    await client.query('select pg_advisory_unlock(1)');
    await client.query(`create database ${database} template migrated`);
    // Its privileges are not copied: https://www.postgresql.org/docs/17/manage-ag-templatedbs.html
    await client.query(
      `update pg_database set datacl = (select datacl from pg_database where datname = 'migrated') where datname = $1`,
      [database],
    );
  });
  const stop = () => asSuperuser(server, (client) => client.query(`drop database ${database} with (force)`));
  return { ...server, database, stop };
}

async function asSuperuser(
  { host, port, superuser: user, password }: TestPostgres,
  work: (client: Client) => Promise<unknown>,
): Promise<void> {
  const client = new Client({ host, port, user, password, database: 'postgres' });
  await client.connect();
  await work(client).finally(() => client.end());
}

async function openRegion(access: DatabaseAccess, postgres: TestDatabase): Promise<RegionDatabase> {
  const connect = await (access === 'data-api' ? serveDataApi : serveDirect)(postgres);
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

async function serveDataApi(postgres: TestDatabase): Promise<Connections> {
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

async function serveDirect(postgres: TestDatabase): Promise<Connections> {
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
  await owner.execute(createIamRole);
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
