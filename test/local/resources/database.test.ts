import { Client } from 'pg';
import { ensureDatabase } from '../../../local/resources/database';
import { startPostgres, type TestPostgres } from '../../support/postgres';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

it('creates a database once, whose owner manages roles and tokens, but is not a superuser', async () => {
  const [database, owner] = ['wallet', { username: 'wallet_owner', password: 'secret' }];
  expect(await ensureDatabase(postgres, database, owner)).toBe(true);
  expect(await ensureDatabase(postgres, database, owner)).toBe(false);
  const { host, port } = postgres;
  const client = new Client({ host, port, database, user: owner.username, password: owner.password });
  await client.connect();
  await client.query('create role handler login; grant rds_iam to handler; create table t (a int)');
  await expect(client.query('alter system set fsync = off')).rejects.toThrow('permission denied');
  await expect(client.query('select * from pg_authid')).rejects.toThrow('permission denied');
  await client.end();
});
