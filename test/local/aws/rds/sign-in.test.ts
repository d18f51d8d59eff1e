import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ClientConfig } from 'pg';
import { type LocalCertificate, localCertificate } from '../../../../local/aws/rds/certificate';
import { ensureDatabase } from '../../../../local/aws/rds/resources';
import { startPostgres, type TestPostgres } from '../../../support/postgres';

const user = 'delete_user_group';
const database = 'wallet';
const master = { username: 'master', password: 'correct horse' };

const certificates = mkdtempSync(join(tmpdir(), 'wallet-test-'));
let postgres: TestPostgres;
let certificate: LocalCertificate;
const clients: Client[] = [];

beforeAll(async () => {
  certificate = await localCertificate(certificates);
  postgres = await startPostgres({ certificate });
  await ensureDatabase(postgres, database, master);
  // As the owner of a database in Aurora, who may create roles.
  const owner = await signIn({ user: master.username, password: master.password });
  await owner.query(`
    create role handlers nologin;
    grant rds_iam to handlers;
    create role ${user} login in role handlers;
    create role by_password login password 'correct'`);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => undefined)));
});
afterAll(async () => {
  await postgres.stop();
  rmSync(certificates, { recursive: true });
});

async function signIn(config: ClientConfig): Promise<Client> {
  const { port } = postgres;
  const client = new Client({ host: 'localhost', port, database, ssl: { ca: certificate.cert }, ...config });
  client.on('error', () => undefined);
  await client.connect();
  clients.push(client);
  return client;
}

test('certificate and database are created once; only their owner reads the key, and the other is no superuser', async () => {
  expect(await localCertificate(certificates)).toEqual(certificate);
  for (const file of [
    join(certificates, 'localhost-key.pem'),
    join(postgres.directory, 'cluster/data/server.key'),
  ])
    expect(statSync(file).mode & 0o077).toBe(0);
  await ensureDatabase(postgres, database, master);
  const owner = await signIn({ user: master.username, password: master.password });
  await expect(owner.query('alter system set fsync = off')).rejects.toThrow('permission denied');
});

test('a member of rds_iam signs in by any token over TLS, others by their passwords', async () => {
  const roles = [
    { user, password: 'a token' },
    { user: 'by_password', password: 'correct' },
  ];
  for (const role of roles) {
    const { rows } = await (await signIn(role)).query('select current_user as user');
    expect(rows).toEqual([{ user: role.user }]);
  }
});

test.each<[what: string, config: () => ClientConfig]>([
  ['another password', () => ({ user: 'by_password', password: 'wrong' })],
  [
    'another password of the master user, who may grant rds_iam',
    () => ({ user: master.username, password: 'wrong' }),
  ],
  ['another password of the superuser', () => ({ user: postgres.superuser, password: 'wrong' })],
  ['a token without TLS', () => ({ user, password: 'a token', ssl: false })],
])('refuses a client with %s', async (_, config) => {
  await expect(signIn(config())).rejects.toMatchObject({ code: '28P01' });
});
