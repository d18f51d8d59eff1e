import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Signer } from '@aws-sdk/rds-signer';
import { Client, type ClientConfig } from 'pg';
import { type LocalCertificate, localCertificate } from '../../../../local/aws/rds/certificate';
import { type DatabaseEndpoint, startDatabaseEndpoint } from '../../../../local/aws/rds/endpoint';
import { ensureDatabase } from '../../../../local/aws/rds/resources';
import { eventually } from '../../../support/eventually';
import { startPostgres, type TestPostgres } from '../../../support/postgres';

const region = 'me-central-1';
const credentials = { accessKeyId: 'LOCALKEY', secretAccessKey: 'local-secret' };
const user = 'delete_user_group';
const database = 'wallet';
const master = { username: 'master', password: 'correct horse' };

let postgres: TestPostgres;
let certificate: LocalCertificate;
let endpoint: DatabaseEndpoint;
const refusals: string[] = [];
/** Seconds since tokens were made. */
let age = 0;
const clients: Client[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  certificate = await localCertificate(postgres.directory);
  expect(await ensureDatabase(postgres, database, master)).toBe(true);
  endpoint = await startDatabaseEndpoint({
    postgres,
    certificate,
    region,
    findAccessKey: (id) => (id === credentials.accessKeyId ? credentials : undefined),
    authorize: (_, role) => (role === 'not_granted' ? 'no rds-db:connect' : undefined),
    onRefusal: (reason) => refusals.push(reason),
    clock: () => new Date(Date.now() + age * 1_000),
  });
  // As the owner of a database in Aurora, who may create roles.
  const owner = await signIn({ user: master.username, password: master.password });
  await owner.query(`
    create role handlers nologin;
    grant rds_iam to handlers;
    create role ${user} login in role handlers password 'unused';
    create role not_granted login in role handlers;
    create role by_password login password 'correct';
    create table entry (id int)`);
});
afterEach(async () => {
  refusals.length = 0;
  age = 0;
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => undefined)));
});
afterAll(async () => {
  await endpoint.close();
  await postgres.stop();
});

async function signIn(config: ClientConfig): Promise<Client> {
  const { host, port } = endpoint;
  const client = new Client({ host, port, database, ssl: { ca: certificate.cert }, ...config });
  client.on('error', () => undefined);
  await client.connect();
  clients.push(client);
  return client;
}

const after = async (seconds: number) => {
  age = seconds;
  return byToken(user);
};
const byToken = async (username: string) => ({
  user: username,
  password: await new Signer({
    ...{ hostname: endpoint.host, port: endpoint.port, region, username, credentials },
  }).getAuthToken(),
});

test('certificate and database are created once; only their owner reads the key, and the other is no superuser', async () => {
  expect(await localCertificate(postgres.directory)).toEqual(certificate);
  expect(statSync(join(postgres.directory, 'localhost-key.pem')).mode & 0o077).toBe(0);
  expect(await ensureDatabase(postgres, database, master)).toBe(false);
  const owner = await signIn({ user: master.username, password: master.password });
  await expect(owner.query('alter system set fsync = off')).rejects.toThrow('permission denied');
});

test('a member of rds_iam signs in by a token; large statements and results are complete', async () => {
  const text = 'ä'.repeat(4 * 1024 * 1024);
  const client = await signIn(await byToken(user));
  const { rows } = await client.query('select current_user as user, $1::text as text', [text]);
  expect([rows[0].user, rows[0].text === text]).toEqual([user, true]);
});

test.each<[what: string, config: () => Promise<ClientConfig>, code: string, refusals: string[]]>([
  ['a member’s password', async () => ({ user, password: 'unused' }), '28000', ['unknown access key']],
  [
    "another user's token",
    async () => ({ ...(await byToken('not_granted')), user }),
    '28000',
    ['signed with another key'],
  ],
  ['a token of a quarter of an hour', () => after(910), '28000', ['it has expired']],
  ['a token of later', () => after(-310), '28000', ['in the future']],
  ['no permission', () => byToken('not_granted'), '28000', ['no rds-db:connect']],
  ['a token of a role that has a password', () => byToken('by_password'), '28P01', []],
  ['another password', async () => ({ user: 'by_password', password: 'wrong' }), '28P01', []],
  ['no TLS', async () => ({ user: 'by_password', password: 'correct', ssl: false }), '28000', []],
])('refuses a client with %s', async (_, config, code, reasons) => {
  await expect(signIn(await config())).rejects.toMatchObject({ code });
  expect(refusals).toEqual(reasons.map((reason) => expect.stringContaining(reason)));
});

test("a client's disconnect closes its connection to PostgreSQL", async () => {
  await (await signIn(await byToken(user))).end();
  const observer = await signIn({ user: postgres.superuser, password: postgres.password });
  const connections = `select from pg_stat_activity where usename = '${user}'`;
  await eventually(async () => (await observer.query(connections)).rowCount === 0);
});
