import { Client } from 'pg';
import { ensureDatabase } from '../../../local/resources/database';
import { startPostgres, type TestPostgres } from '../../support/postgres';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const ensure = (password: string) =>
  ensureDatabase(postgres, 'wallet', { username: 'wallet_owner', password });

async function asOwner(password: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const { host, port } = postgres;
  const client = new Client({ host, port, database: 'wallet', user: 'wallet_owner', password });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

it('is created once, and accepts a changed password', async () => {
  expect(await ensure('first')).toBe(true);
  expect(await ensure('second')).toBe(false);
  await asOwner('second', async (client) => {
    expect((await client.query('select current_user')).rows).toEqual([{ current_user: 'wallet_owner' }]);
  });
  await expect(asOwner('first', async () => undefined)).rejects.toThrow('password authentication failed');
});

it('has an owner that can create roles and let them sign in by token, but is not a superuser', async () => {
  await ensure('first');
  await asOwner('first', async (client) => {
    await client.query('create role handler login; grant rds_iam to handler; create table t (a int)');
    await expect(client.query('alter system set fsync = off')).rejects.toThrow('permission denied');
    await expect(client.query('select * from pg_authid')).rejects.toThrow('permission denied');
  });
});
