import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
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
const master = { user: 'master', password: 'correct horse' };

let directory: string;
let certificate: LocalCertificate;
let postgres: TestPostgres;
let endpoint: DatabaseEndpoint;
let now: Date | undefined;
const refusals: string[] = [];
const clients: Client[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'wallet-test-'));
  [postgres, certificate] = await Promise.all([startPostgres(), localCertificate({ directory })]);
  endpoint = await startDatabaseEndpoint({
    postgres,
    certificate,
    region,
    findAccessKey: (id) => (id === credentials.accessKeyId ? credentials : undefined),
    authorize: (_, user) => (user === 'not_granted' ? 'no rds-db:connect' : undefined),
    clock: () => now ?? new Date(),
    onRefusal: (reason) => refusals.push(reason),
  });
  await asAdministrator(`
    create role rds_iam nologin;
    create role handlers nologin in role rds_iam;
    create role delete_user_group login in role handlers password 'unused';
    create role without_login nologin in role rds_iam;
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
  await rm(directory, { recursive: true, force: true });
});

describe('a member of rds_iam', () => {
  test('signs in with a token of the SDK, over verified TLS, as itself', async () => {
    const client = await signIn(await withToken());
    const { rows } = await client.query('select current_user as user, current_database() as database');
    expect(rows).toEqual([{ user: 'delete_user_group', database: 'postgres' }]);
  });

  const signedWith = (other: Partial<typeof credentials>) =>
    token({ credentials: { ...credentials, ...other } });
  const changed = async (part: RegExp, other: string | ((found: string) => string)) =>
    (await token()).replace(part, other as string);
  const otherDigit = (digit: string) => (digit === '0' ? '1' : '0');
  const another = 'signed with another key, or for another host, port, region or user';

  test.each<[string, () => Promise<string>, string]>([
    ['of another user', () => token({ username: 'by_password' }), another],
    ['of another region', () => token({ region: 'eu-central-1' }), another],
    ['for another port', () => token({ port: 1 }), another],
    ['for another host', () => token({ hostname: 'example.com' }), another],
    ['of another secret', () => signedWith({ secretAccessKey: 'X' }), another],
    ['of another session', () => signedWith({ sessionToken: 'X' }), another],
    ['with one digit changed', () => changed(/(?<=X-Amz-Signature=)./, otherDigit), another],
    ['with half of its signature', () => changed(/.{32}$/, ''), another],
    ['of an unknown access key', () => signedWith({ accessKeyId: 'X' }), 'access key is unknown'],
    ['that is a password', async () => 'unused', 'access key is unknown'],
    ['without a date', () => changed(/X-Amz-Date=/, 'X='), 'not readable'],
  ])('is refused with a token %s', async (_, made, reason) => {
    await expect(signIn({ user: 'delete_user_group', password: await made() })).rejects.toMatchObject({
      code: '28000',
      message: 'PAM authentication failed for user "delete_user_group"',
    });
    expect(refusals).toEqual([expect.stringContaining(reason)]);
  });

  test.each([
    ['901 s ago', 901, 'has expired'],
    ['six minutes ahead', -360, 'in the future'],
  ])('is refused with a token made %s', async (_, seconds, reason) => {
    const password = await token();
    now = new Date(Date.now() + seconds * 1000);
    await expect(signIn({ user: 'delete_user_group', password })).rejects.toMatchObject({ code: '28000' });
    expect(refusals).toEqual([expect.stringContaining(reason)]);
  });

  test('is accepted with a token made 890 s ago', async () => {
    const password = await token();
    now = new Date(Date.now() + 890_000);
    await signIn({ user: 'delete_user_group', password });
  });

  test('is refused without the permission rds-db:connect', async () => {
    const password = await token({ username: 'not_granted' });
    await expect(signIn({ user: 'not_granted', password })).rejects.toMatchObject({ code: '28000' });
    expect(refusals).toEqual([expect.stringContaining('no rds-db:connect')]);
  });

  test('is refused by PostgreSQL itself when it may not sign in', async () => {
    const password = await token({ username: 'without_login' });
    await expect(signIn({ user: 'without_login', password })).rejects.toThrow('is not permitted to log in');
  });

  test.each([
    ['a value that looks like a name', ['database', 'user', 'user', 'delete_user_group']],
    ['such a value after the name', ['user', 'delete_user_group', 'database', 'user']],
    ['two names', ['user', 'by_password', 'user', 'delete_user_group']],
  ])('signs in as the user that PostgreSQL reads, with %s', async (_, words) => {
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
    // AuthenticationCleartextPassword: a token is asked for.
    expect([...request]).toEqual([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);
  });
});

describe('any other role', () => {
  test.each(['master', 'postgres'])('signs in with its password: %s', async (user) => {
    const client = await signIn(user === 'master' ? master : { user, password: postgres.password });
    expect((await client.query('select current_user as user')).rows).toEqual([{ user }]);
  });

  test.each<[string, string, () => Promise<string>]>([
    ['another password', 'master', async () => 'wrong'],
    ['a good token', 'by_password', () => token({ username: 'by_password' })],
    ['an unknown name', 'unknown', async () => 'correct'],
  ])('is refused with %s', async (_, user, password) => {
    await expect(signIn({ user, password: await password() })).rejects.toMatchObject({ code: '28P01' });
  });

  test('gets an error for a database that does not exist', async () => {
    await expect(signIn({ ...master, database: 'none' })).rejects.toMatchObject({ code: '3D000' });
  });
});

test('a connection without TLS is refused', async () => {
  await expect(signIn({ ...master, ssl: false })).rejects.toMatchObject({
    code: '28000',
    message: expect.stringContaining('no encryption'),
  });
});

test('a client that does not trust the certificate does not connect', async () => {
  await expect(signIn({ ...master, ssl: true })).rejects.toMatchObject({
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  });
});

test('an older TLS than 1.2 is refused', async () => {
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const ssl = { ca: certificate.cert, ...old };
  await expect(signIn({ ...master, ssl })).rejects.toThrow('protocol version');
});

test.each<[string, Buffer]>([
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['bytes before the TLS handshake', Buffer.from([...sslRequest, 1, 2, 3])],
  ['a startup message of 2 GB', Buffer.from([127, 255, 255, 255, 0, 3, 0, 0])],
])('a connection that sends %s is closed without a response', async (_, bytes) => {
  const socket = connect(endpoint.port, '127.0.0.1', () => socket.write(bytes));
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk)).on('error', () => undefined);
  await new Promise((resolve) => socket.on('close', resolve));
  expect(Buffer.concat(received).toString()).toBe('');
});

test('a connection that ends within its startup message is closed', async () => {
  const socket = connect(endpoint.port, '127.0.0.1', () => socket.end(Buffer.from(sslRequest.slice(0, 5))));
  socket.resume();
  await new Promise((resolve) => socket.on('close', resolve));
});

test('large statements and results pass whole, both ways', async () => {
  const client = await signIn(await withToken());
  const text = 'ä'.repeat(8 * 1024 * 1024);
  const { rows } = await client.query('select $1::text as text, md5($1) as md5', [text]);
  expect(rows[0].text === text).toBe(true);
});

test('a running statement can be cancelled', async () => {
  const client = await signIn(await withToken());
  const sleeping = client.query('select pg_sleep(20)');
  await whenTrue(`select bool_or(wait_event = 'PgSleep') as met from pg_stat_activity`);
  const keys = client as unknown as { processID: number; secretKey: number };
  const request = Buffer.alloc(16);
  for (const [at, value] of [16, 80877102, keys.processID, keys.secretKey].entries()) {
    request.writeInt32BE(value, at * 4);
  }
  const socket = connect(endpoint.port, '127.0.0.1', () => socket.write(request)).resume();
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await expect(sleeping).rejects.toMatchObject({ code: '57014' });
  await closed;
});

test('a client that goes takes its connection to PostgreSQL with it', async () => {
  const client = await signIn(await withToken());
  await client.end();
  await whenTrue(`select count(*) = 0 as met from pg_stat_activity where usename = 'delete_user_group'`);
});

test('when PostgreSQL crashes, statements under way fail, and new connections work once it is back', async () => {
  const client = await signIn(await withToken());
  const failed = expect(client.query('select pg_sleep(20)')).rejects.toThrow(
    /terminated unexpectedly|ECONNRESET/,
  );
  await postgres.kill();
  await failed;
  await expect(signIn(await withToken())).rejects.toThrow(/terminated unexpectedly|ECONNRESET/);
  await postgres.restart();
  await signIn(await withToken());
});

test('closing ends the connections', async () => {
  const findAccessKey = () => credentials;
  const other = await startDatabaseEndpoint({ postgres, certificate, region, findAccessKey });
  const client = await signIn(await withToken(other.port));
  const ended = new Promise((resolve) => client.once('end', resolve));
  await other.close();
  await ended;
  await expect(signIn({ ...master, port: other.port })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

async function signIn(config: ClientConfig): Promise<Client> {
  const client = new Client({
    host: endpoint.host,
    port: endpoint.port,
    database: 'postgres',
    ssl: { ca: certificate.cert },
    ...config,
  });
  client.on('error', () => undefined);
  await client.connect();
  clients.push(client);
  return client;
}

async function withToken(port = endpoint.port): Promise<ClientConfig> {
  return { user: 'delete_user_group', password: await token({ port }), port };
}

function token(different: Partial<ConstructorParameters<typeof Signer>[0]> = {}): Promise<string> {
  return new Signer({
    hostname: endpoint.host,
    port: endpoint.port,
    region,
    username: 'delete_user_group',
    credentials,
    ...different,
  }).getAuthToken();
}

async function whenTrue(condition: string): Promise<void> {
  await eventually(async () => (await asAdministrator(condition)).rows[0].met === true);
}

async function asAdministrator(sql: string) {
  const { socketDirectory: host, port, superuser: user, database } = postgres;
  const client = new Client({ host, port, user, database });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}
