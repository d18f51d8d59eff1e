import { setTimeout as sleep } from 'node:timers/promises';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { ok } from '../../../domain/result';
import { createDataApiDatabase } from '../../../lambda/database/data-api';
import type { TransactionalDatabase } from '../../../lambda/database/database';
import { migrateSchema } from '../../../lambda/migrate-schema/migrate-schema';
import type { LoopbackServer } from '../../../local/network/loopback-server';
import { localClient } from '../../support/aws-client';
import { startDataApi } from '../../support/local-services';
import { startPostgres, type TestPostgres } from '../../support/postgres';

/** Milliseconds that the Data API gives a statement: 45 s at AWS. */
const statementMs = 500;

let postgres: TestPostgres;
let dataApi: LoopbackServer;
let client: RDSDataClient;
let owner: TransactionalDatabase;

beforeAll(async () => {
  postgres = await startPostgres();
  const { host, port, database, superuser: user, password } = postgres;
  dataApi = await startDataApi({
    statementMs,
    resolve: () => ({ host, port, database, user, password }),
  });
  client = new RDSDataClient(localClient(dataApi.url));
  owner = createDataApiDatabase(
    {
      clusterArn: 'arn:aws:rds:eu-central-1:000000000000:cluster:test',
      secretArn: 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:test',
      database,
    },
    client,
  );
});
afterAll(async () => {
  client.destroy();
  await dataApi.close();
  await postgres.stop();
});

it('a file that takes longer than the Data API allows says so, leaves nothing, and holds no lock', async () => {
  const slow = { name: '0001-slow', text: 'create table slow (id int); perform pg_sleep(1.5);' };
  expect(await migrateSchema(owner, [slow], [])).toMatchObject({
    ok: false,
    error: { kind: 'timed_out', migration: '0001-slow' },
  });
  await sleep(1_500);
  const quick = { ...slow, text: 'create table slow (id int);' };
  expect(await migrateSchema(owner, [quick], [])).toEqual(ok(['0001-slow']));
});
