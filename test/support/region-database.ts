import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { Client } from 'pg';
import { createDataApiDatabase } from '../../lambda/database/data-api';
import { type Database, sql, type TransactionalDatabase } from '../../lambda/database/database';
import { createDirectDatabase } from '../../lambda/database/direct';
import { type DatabaseAccess, type DatabaseRole, databaseRoles } from '../../lambda/database/variables';
import { migrateSchema } from '../../lambda/migrate-schema/migrate-schema';
import { localClient, startDataApi } from './aws-client';
import { eventually } from './eventually';
import { sharedInRun } from './once-per-run';
import { rows } from './organization';
import { startPostgres, type TestPostgres } from './postgres';
import { useShared } from './use-shared';

/** A region's database in a real PostgreSQL, accessed through the product's adapters. */
export type RegionDatabase = Awaited<ReturnType<typeof openRegion>>;

const region = 'eu-central-1';
const clusterArn = `arn:aws:rds:${region}:000000000000:cluster:test`;
const secretPrefix = `arn:aws:secretsmanager:${region}:000000000000:secret:`;

/** A region's database on its own server, empty: call `migrate` for the schema. Takes about a second. */
export async function startRegionDatabase(access: DatabaseAccess): Promise<RegionDatabase> {
  const postgres = await startPostgres();
  const opened = await openRegion(access, postgres);
  const stop = () => opened.stop().then(postgres.stop);
  return { ...opened, stop };
}

/**
 * A region's database with the schema of the product, for the tests of the file or block that calls it. It is on a server that
 * the test files of a run share: tests that change roles or disturb the server start their own.
 */
export const useMigratedDatabase = (): RegionDatabase =>
  useShared(async () => {
    const server = await sharedInRun<TestPostgres>('postgres');
    const database = `test_${randomBytes(8).toString('hex')}`;
    const client = new Client({ ...server, user: server.superuser });
    await client.connect();
    await client.query(`create database ${database}`);
    const opened = await openRegion('data-api', { ...server, database });
    // Roles belong to the server: one test file at a time, until this connection ends.
    await client.query('select pg_advisory_lock(1)');
    await opened.migrate().finally(() => client.end());
    return opened;
  });

async function openRegion(access: DatabaseAccess, postgres: TestPostgres) {
  const { as, close } = await (access === 'data-api' ? serveDataApi : serveDirect)(postgres);
  const owner = as(postgres.superuser);
  return {
    postgres,
    owner,
    as: (role: DatabaseRole): Database => as(role),
    query: (...statement: Parameters<typeof sql>) => rows(owner, sql(...statement)),
    /** Waits until a statement in this database waits for a lock. */
    untilBlocked: () =>
      eventually(async () => {
        const waiting = sql`
          select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return (await rows(owner, waiting)).length > 0;
      }),
    async migrate() {
      // Aurora has it.
      if (access === 'direct') await owner.execute(sql`create role rds_iam`);
      const withPassword = access === 'data-api' && { password: postgres.password };
      const roles = databaseRoles.map((name) => ({ name, ...withPassword }));
      const migrated = await migrateSchema(owner, readMigrations(), roles);
      if (!migrated.ok) throw new Error(JSON.stringify(migrated.error));
    },
    stop: (): Promise<unknown> => close(),
  };
}

/** Reads their files: only bundles and Jest import SQL, and benchmarks use this too. */
function readMigrations() {
  const directory = resolve(__dirname, '../../lambda/database/migrations');
  const files = readdirSync(directory).filter((file) => file.endsWith('.sql'));
  const read = (file: string) => readFileSync(join(directory, file), 'utf8');
  return files.sort().map((file) => ({ name: basename(file, '.sql'), text: read(file) }));
}

async function serveDataApi(postgres: TestPostgres) {
  const { database } = postgres;
  const dataApi = await startDataApi({
    resolve: ({ secretArn }) => ({ ...postgres, user: secretArn.slice(secretPrefix.length) }),
  });
  const client = new RDSDataClient(localClient(dataApi.url));
  return {
    as(user: string): TransactionalDatabase {
      const secretArn = `${secretPrefix}${user}`;
      return createDataApiDatabase({ clusterArn, secretArn, database, resumeTimeout: 1000 }, client);
    },
    close() {
      client.destroy();
      return dataApi.close();
    },
  };
}

function serveDirect({ port, database, password, certificateAuthorities }: TestPostgres) {
  // Only the superuser's password is checked: any token signs in, see local/postgres/postgres.ts.
  const trust = { certificateAuthorities, password: async () => password };
  const open: { close(): Promise<void> }[] = [];
  return {
    as(user: string): TransactionalDatabase {
      const connected = createDirectDatabase({ host: 'localhost', port, user, database, ...trust });
      open.push(connected);
      return connected;
    },
    close: () => Promise.all(open.map((each) => each.close())),
  };
}
