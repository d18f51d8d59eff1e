import { once } from 'node:events';
import { connect } from 'node:net';
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

const startEndpoint = () =>
  startDatabaseEndpoint({
    postgres,
    certificate,
    region,
    findAccessKey: (id) => (id === credentials.accessKeyId ? credentials : undefined),
    authorize: (_, role) => (role === 'not_granted' ? 'no rds-db:connect' : undefined),
    clock: () => now ?? new Date(),
    onRefusal: (reason) => refusals.push(reason),
  });

beforeAll(async () => {
  postgres = await startPostgres();
  certificate = await localCertificate({ directory: postgres.directory });
  endpoint = await startEndpoint();
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
  await endpoint?.close();
  await postgres?.stop();
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
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

const isTrue = (condition: string) => async () =>
  (await asSuperuser(`select ${condition} as met from pg_stat_activity`)).rows[0].met === true;

describe('a member of rds_iam', () => {
  test('signs in with a token of the SDK, as itself', async () => {
    const { rows } = await (await signInByToken()).query('select current_user as user');
    expect(rows).toEqual([{ user }]);
  });

  const signedWith = (other: Partial<typeof credentials>) =>
    token({ credentials: { ...credentials, ...other } });
  const changed = async (part: RegExp, other: string | ((found: string) => string)) =>
    (await token()).replace(part, other as string);
  const another = 'signed with another key, or for another host, port, region or user';

  test.each<[string, () => Promise<string>, string]>([
    ['of another user', () => token({ username: 'by_password' }), another],
    ['of another region', () => token({ region: 'eu-central-1' }), another],
    ['for another port', () => token({ port: 1 }), another],
    ['for another host', () => token({ hostname: 'example.com' }), another],
    ['of another secret', () => signedWith({ secretAccessKey: 'X' }), another],
    ['of another session', () => signedWith({ sessionToken: 'X' }), another],
    [
      'with one digit changed',
      () => changed(/(?<=X-Amz-Signature=)./, (digit) => (digit === '0' ? '1' : '0')),
      another,
    ],
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

  test.each([
    ['a value that looks like a name', ['user', user, 'database', 'user']],
    ['two names', ['user', 'by_password', 'user', user]],
  ])('is identified as PostgreSQL does, with %s', async (_, words) => {
    const parameters = Buffer.from(`${words.join('\0')}\0\0`);
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

test.each<[string, ClientConfig | (() => Promise<ClientConfig>), string]>([
  ['the password of the master user', { user: 'master', password: 'correct horse' }, 'signed in'],
  [
    'the password of the superuser',
    async () => ({ user: 'postgres', password: postgres.password }),
    'signed in',
  ],
  ['another password', { user: 'master', password: 'wrong' }, '28P01'],
  [
    'a token of a role that has a password',
    async () => ({ user: 'by_password', password: await token({ username: 'by_password' }) }),
    '28P01',
  ],
  ['an unknown user', { user: 'unknown', password: 'correct' }, '28P01'],
  ['no TLS', { user: 'master', password: 'correct horse', ssl: false }, '28000'],
  ['no trust in the certificate', { user: 'master', ssl: true }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  [
    'TLS 1.1',
    { ssl: { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } },
    'EPROTO',
  ],
])('a client with %s', async (_, config, result) => {
  const signedIn = signIn(typeof config === 'function' ? await config() : config);
  const outcome = await signedIn.then(
    () => 'signed in',
    ({ code }) => code,
  );
  expect(outcome).toBe(result);
});

test.each<[string, Buffer]>([
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['a startup message of 2 GB', Buffer.from([127, 255, 255, 255, 0, 3, 0, 0])],
  ['half a startup message', Buffer.from(sslRequest.slice(0, 5))],
])('a connection that sends %s is closed without a response', async (_, bytes) => {
  const socket = connect(endpoint.port, '127.0.0.1', () => socket.end(bytes));
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk)).on('error', () => undefined);
  await new Promise((resolve) => socket.on('close', resolve));
  expect(Buffer.concat(received).toString()).toBe('');
});

test('large statements and results are complete, in both directions', async () => {
  const text = 'ä'.repeat(4 * 1024 * 1024);
  const { rows } = await (await signInByToken()).query('select $1::text as text', [text]);
  expect(rows[0].text === text).toBe(true);
});

test('a running statement can be cancelled', async () => {
  const client = await signInByToken();
  const sleeping = client.query('select pg_sleep(20)');
  await eventually(isTrue(`bool_or(wait_event = 'PgSleep')`));
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, 80877102, processID, secretKey].entries()) {
    request.writeInt32BE(value, index * 4);
  }
  const socket = connect(endpoint.port, '127.0.0.1', () => socket.write(request)).resume();
  await expect(sleeping).rejects.toMatchObject({ code: '57014' });
  await new Promise((resolve) => (socket.closed ? resolve(undefined) : socket.on('close', resolve)));
});

test("a client's disconnect closes its connection to PostgreSQL", async () => {
  await (await signInByToken()).end();
  await eventually(isTrue(`count(*) filter (where usename = '${user}') = 0`));
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

test('closing disconnects clients', async () => {
  const other = await startEndpoint();
  const password = await token({ port: other.port });
  const client = await signIn({ user, password, port: other.port });
  const ended = new Promise((resolve) => client.once('end', resolve));
  await other.close();
  await ended;
  await expect(signIn({ port: other.port })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
