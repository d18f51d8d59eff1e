import { once } from 'node:events';
import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { Signer } from '@aws-sdk/rds-signer';
import { Client, type ClientConfig } from 'pg';
import { type LocalCertificate, localCertificate } from '../../../local/network/certificates';
import { type DatabaseEndpoint, startDatabaseEndpoint } from '../../../local/postgres/endpoint';
import { eventually } from '../../support/eventually';
import { startPostgres, type TestPostgres } from '../../support/postgres';

const region = 'me-central-1';
const credentials = {
  accessKeyId: 'LOCALKEY',
  secretAccessKey: 'local-secret',
  sessionToken: 'local/session+token==',
};
const sslRequest = [0, 0, 0, 8, 4, 210, 22, 47];
const user = 'delete_user_group';

let postgres: TestPostgres;
let certificate: LocalCertificate;
let endpoint: DatabaseEndpoint;
let now: Date | undefined;
const refusals: string[] = [];
const clients: Client[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  certificate = await localCertificate(postgres.directory);
  endpoint = await startDatabaseEndpoint({
    postgres,
    certificate,
    region,
    findAccessKey: (id) => (id === credentials.accessKeyId ? credentials : undefined),
    authorize: (_, role) => (role === 'not_granted' ? 'no rds-db:connect' : undefined),
    clock: () => now ?? new Date(),
    onRefusal: (reason) => refusals.push(reason),
  });
  await asSuperuser(`
    create role rds_iam nologin;
    create role handlers nologin in role rds_iam;
    create role ${user} login in role handlers password 'unused';
    create role not_granted login in role rds_iam;
    create role by_password login password 'correct';
    create role master login createrole createdb password 'correct horse';
    grant rds_iam to master with admin option, inherit false, set false;`);
});
afterEach(async () => {
  now = undefined;
  refusals.length = 0;
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => undefined)));
});
afterAll(async () => {
  // Closing disconnects clients, or it would never end.
  const connected = connect(endpoint.port, '127.0.0.1').on('error', () => undefined);
  await once(connected, 'connect');
  await endpoint.close();
  await postgres.stop();
});

async function signIn(config: ClientConfig): Promise<Client> {
  const { host, port } = endpoint;
  const client = new Client({ host, port, database: 'postgres', ssl: { ca: certificate.cert }, ...config });
  client.on('error', () => undefined);
  await client.connect();
  clients.push(client);
  return client;
}

const token = (different: Partial<ConstructorParameters<typeof Signer>[0]> = {}): Promise<string> =>
  new Signer({
    ...{ hostname: endpoint.host, port: endpoint.port, region, username: user, credentials },
    ...different,
  }).getAuthToken();

const signInByToken = async () => signIn({ user, password: await token() });

async function asSuperuser(sql: string) {
  const { socketDirectory: host, port, superuser, database } = postgres;
  const client = new Client({ host, port, user: superuser, database });
  await client.connect();
  return client.query(sql).finally(() => client.end());
}

test('the certificate is created once, and only its owner can read the key', async () => {
  expect(await localCertificate(postgres.directory)).toEqual(certificate);
  expect(statSync(join(postgres.directory, 'localhost-key.pem')).mode & 0o077).toBe(0);
});

describe('a member of rds_iam', () => {
  test('signs in with a token of the SDK, as itself; large statements and results are complete', async () => {
    const text = 'ä'.repeat(4 * 1024 * 1024);
    const query = 'select current_user as user, $1::text as text';
    const { rows } = await (await signInByToken()).query(query, [text]);
    expect([rows[0].user, rows[0].text === text]).toEqual([user, true]);
  });

  const signedWith = (other: Partial<typeof credentials>) =>
    token({ credentials: { ...credentials, ...other } });
  const changed = async (part: RegExp, other: string) => (await token()).replace(part, other);
  const another = 'signed with another key, or for another host, port, region or user';

  test.each<[string, () => Promise<string>, string]>([
    ['of another user', () => token({ username: 'by_password' }), another],
    ['of another region', () => token({ region: 'eu-central-1' }), another],
    ['for another port', () => token({ port: 1 }), another],
    ['for another host', () => token({ hostname: 'example.com' }), another],
    ['of another secret', () => signedWith({ secretAccessKey: 'X' }), another],
    ['of another session', () => signedWith({ sessionToken: 'X' }), another],
    ['with half of its signature', () => changed(/.{32}$/, ''), another],
    ['of an unknown access key', () => signedWith({ accessKeyId: 'X' }), 'unknown access key'],
    ['that is a password', async () => 'unused', 'unknown access key'],
    ['without a date', () => changed(/X-Amz-Date=/, 'X='), 'missing, malformed or in the future'],
  ])('is refused with a token %s', async (_, made, reason) => {
    await expect(signIn({ user, password: await made() })).rejects.toMatchObject({
      code: '28000',
      message: `PAM authentication failed for user "${user}"`,
    });
    expect(refusals).toEqual([expect.stringContaining(reason)]);
  });

  test.each([
    [-360, ['in the future']],
    [890, []],
    [901, ['has expired']],
  ])('with a token created %s seconds ago: refused %j', async (seconds, reasons) => {
    const password = await token();
    now = new Date(Date.now() + seconds * 1000);
    await signIn({ user, password }).catch(() => undefined);
    expect(refusals).toEqual(reasons.map((reason) => expect.stringContaining(reason)));
  });

  test('is refused without the permission rds-db:connect', async () => {
    const password = await token({ username: 'not_granted' });
    await expect(signIn({ user: 'not_granted', password })).rejects.toMatchObject({ code: '28000' });
    expect(refusals).toEqual([expect.stringContaining('no rds-db:connect')]);
  });

  test('is identified as PostgreSQL does: by the last value of the name "user"', async () => {
    const parameters = Buffer.from(
      ['user', 'by_password', 'user', user, 'database', 'user', '', ''].join('\0'),
    );
    const opening = Buffer.alloc(8);
    opening.writeInt32BE(8 + parameters.length, 0);
    opening.writeInt32BE(196_608, 4);
    const plain = connect(endpoint.port, '127.0.0.1', () => plain.write(Buffer.from(sslRequest)));
    await once(plain, 'data');
    const client = tlsConnect({ socket: plain, host: 'localhost', ca: certificate.cert });
    client.write(Buffer.concat([opening, parameters]));
    const [request] = (await once(client, 'data')) as [Buffer];
    client.destroy();
    // AuthenticationCleartextPassword: a token is requested.
    expect([...request]).toEqual([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);
  });
});

const master = { user: 'master', password: 'correct horse' };

test.each<[string, () => ClientConfig | Promise<ClientConfig>, string]>([
  ['the password of the master user', () => master, 'signed in'],
  ['the superuser’s password', () => ({ user: 'postgres', password: postgres.password }), 'signed in'],
  ['another password', () => ({ user: 'master', password: 'wrong' }), '28P01'],
  [
    'a token of a role that has a password',
    async () => ({ user: 'by_password', password: await token({ username: 'by_password' }) }),
    '28P01',
  ],
  ['an unknown user', () => ({ user: 'unknown', password: 'correct' }), '28P01'],
  ['no TLS', () => ({ ...master, ssl: false }), '28000'],
  ['no trust in the certificate', () => ({ ...master, ssl: true }), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
])('a client with %s', async (_, config, result) => {
  const outcome = await signIn(await config()).then(
    () => 'signed in',
    ({ code }) => code,
  );
  expect(outcome).toBe(result);
});

test.each<[string, Buffer]>([
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['half a startup message', Buffer.from(sslRequest.slice(0, 5))],
])('a connection that sends %s is closed without a response', async (_, bytes) => {
  const socket = connect(endpoint.port, '127.0.0.1', () => socket.end(bytes));
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk)).on('error', () => undefined);
  await new Promise((resolve) => socket.on('close', resolve));
  expect(Buffer.concat(received).toString()).toBe('');
});

test("a client's disconnect closes its connection to PostgreSQL", async () => {
  await (await signInByToken()).end();
  const connections = `select from pg_stat_activity where usename = '${user}'`;
  await eventually(async () => (await asSuperuser(connections)).rowCount === 0);
});

test('when PostgreSQL crashes, running statements fail, and new connections work once it is back', async () => {
  const failed = /terminated unexpectedly|ECONNRESET/;
  const running = expect((await signInByToken()).query('select pg_sleep(20)')).rejects.toThrow(failed);
  await postgres.kill();
  await running;
  await expect(signInByToken()).rejects.toThrow(failed);
  await postgres.restart();
  await signInByToken();
});
