import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { Signer } from '@aws-sdk/rds-signer';
import { Client } from 'pg';
import { createDataApiDatabase } from '../../lambda/database/data-api';
import { type Database, type Row, sql, type TransactionalDatabase } from '../../lambda/database/database';
import { createDirectDatabase } from '../../lambda/database/direct';
import { type DatabaseAccess, type DatabaseRole, databaseRoles } from '../../lambda/database/environment';
import { migrateSchema } from '../../lambda/migrate-schema/migrate-schema';
import { startDatabaseEndpoint } from '../../local/postgres/endpoint';
import { localClient } from './aws-client';
import { createAuthority } from './certificates';
import { startDataApi } from './local-services';
import { sharedInRun } from './once-per-run';
import { rows } from './organization';
import { startPostgres, type TestPostgres } from './postgres';

/** A database, and its superuser. */
type TestDatabase = Pick<TestPostgres, 'host' | 'port' | 'superuser' | 'password' | 'socketDirectory'> & {
  readonly database: string;
};

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
const rolePassword = 'only-for-this-test';
const clusterArn = `arn:aws:rds:${region}:000000000000:cluster:test`;
const secretPrefix = `arn:aws:secretsmanager:${region}:000000000000:secret:`;

/** A region's database on its own server, empty: call `migrate` for the schema. Takes about a second. */
export async function startRegionDatabase(access: DatabaseAccess): Promise<RegionDatabase> {
  const postgres = await startPostgres();
  return openRegion(access, postgres, postgres.stop).catch(async (error) => {
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
export async function startMigratedDatabase(access: DatabaseAccess = 'data-api'): Promise<RegionDatabase> {
  const server = await sharedInRun<TestPostgres>(`postgres-${access}`);
  const database = `test_${randomBytes(8).toString('hex')}`;
  const client = new Client({ ...server, user: server.superuser });
  await client.connect();
  await client.query(`create database ${database}`);
  const opened = await openRegion(access, { ...server, database }, async () => {
    await client.query(`drop database ${database} with (force)`);
    await client.end();
  });
  // Roles belong to the server: one test file at a time.
  await client.query('select pg_advisory_lock(1)');
  await opened.migrate().finally(() => client.query('select pg_advisory_unlock(1)'));
  return opened;
}

/** As `startMigratedDatabase`, for the tests of the file or block that calls it. */
export function useMigratedDatabase(access?: DatabaseAccess): RegionDatabase {
  const opened = {} as RegionDatabase;
  beforeAll(async () => Object.assign(opened, await startMigratedDatabase(access)));
  afterAll(() => opened.stop());
  return opened;
}

async function openRegion(
  access: DatabaseAccess,
  postgres: TestDatabase,
  remove: () => Promise<void>,
): Promise<RegionDatabase> {
  const { as, close } = await (access === 'data-api' ? serveDataApi : serveDirect)(postgres);
  const owner = as(postgres.superuser);
  return {
    postgres,
    owner,
    as,
    query: (...statement) => rows(owner, sql(...statement)),
    async migrate() {
      const roles = databaseRoles.map((name) =>
        access === 'data-api' ? { name, password: rolePassword } : { name },
      );
      const migrated = await migrateSchema(owner, readMigrations(), roles);
      if (!migrated.ok) throw new Error(JSON.stringify(migrated.error));
    },
    async stop() {
      await close();
      await remove();
    },
  };
}

/** From their files: only bundles and Jest import SQL, and benchmarks use this too. */
function readMigrations() {
  const directory = resolve(__dirname, '../../lambda/database/migrations');
  const files = readdirSync(directory).filter((file) => file.endsWith('.sql'));
  return files
    .sort()
    .map((file) => ({ name: basename(file, '.sql'), text: readFileSync(join(directory, file), 'utf8') }));
}

interface Connections {
  as(user: string): TransactionalDatabase;
  close(): Promise<void>;
}

async function serveDataApi(postgres: TestDatabase): Promise<Connections> {
  const { database, superuser, password } = postgres;
  const dataApi = await startDataApi({
    resolve({ secretArn }) {
      const user = secretArn.slice(secretPrefix.length);
      return { ...postgres, user, password: user === superuser ? password : rolePassword };
    },
  });
  const client = new RDSDataClient(localClient(dataApi.url));
  return {
    as: (user) =>
      createDataApiDatabase(
        { clusterArn, secretArn: `${secretPrefix}${user}`, database, resumeTimeout: 1000 },
        client,
      ),
    async close() {
      client.destroy();
      await dataApi.close();
    },
  };
}

async function serveDirect(postgres: TestDatabase): Promise<Connections> {
  const { database, superuser, password } = postgres;
  const { issue, cert: certificateAuthorities } = await createAuthority();
  const { host, port, close } = await startDatabaseEndpoint({
    postgres,
    certificate: await issue({ name: 'localhost' }),
    region,
    findAccessKey: () => credentials,
  });
  const open: { close(): Promise<void> }[] = [];
  const connect = (user: string, password: () => string | Promise<string>) => {
    const connected = createDirectDatabase({ host, port, user, password, database, certificateAuthorities });
    open.push(connected);
    return connected;
  };
  const owner = connect(superuser, () => password);
  // Aurora has it; databases of one server share it.
  await owner.execute(sql`
    do $$ begin
      create role rds_iam;
    exception when duplicate_object or unique_violation then null;
    end $$`);
  return {
    as(user) {
      if (user === superuser) return owner;
      const signer = new Signer({ hostname: host, port, username: user, region, credentials });
      return connect(user, () => signer.getAuthToken());
    },
    async close() {
      await Promise.all(open.map((database) => database.close()));
      await close();
    },
  };
}
