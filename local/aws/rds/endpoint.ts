import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { Pool } from 'pg';
import { clientSettings, type Postgres } from '../../postgres/postgres';
import type { AccessKey } from '../iam/permissions';
import { checkToken } from './token';

interface DatabaseEndpointOptions {
  readonly postgres: Pick<Postgres, 'host' | 'port' | 'superuser' | 'socketDirectory'>;
  /** PEM, for `localhost`. */
  readonly certificate: { readonly key: string; readonly cert: string };
  /** The region for which tokens must be signed. */
  readonly region: string;
  /** Finds the credentials of an access key id. */
  readonly findAccessKey: (accessKeyId: string) => AccessKey | undefined;
  /** Returns the reason to refuse an access key a role. @default - none */
  readonly authorize?: (accessKeyId: string, user: string) => string | undefined;
  /** Called with the reason for each refused token; the client does not see it. @default - ignored */
  readonly onRefusal?: (reason: string) => void;
  /** @default - the current time */
  readonly clock?: () => Date;
}

export type DatabaseEndpoint = Awaited<ReturnType<typeof startDatabaseEndpoint>>;

const host = 'localhost';

/** Excludes the master user, who may grant the role but does not inherit it; a superuser would count as a member. */
const membership = `
  select from pg_roles member, pg_roles iam
   where member.rolname = $1 and not member.rolsuper and iam.rolname = 'rds_iam'
     and pg_has_role(member.oid, iam.oid, 'usage')`;

/**
 * The endpoint of an Aurora cluster with IAM authentication, in front of a local PostgreSQL. It requires TLS. Members of
 * `rds_iam` sign in with a token only, which is checked here; PostgreSQL checks the passwords of all others.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAMDBAuth.DBAccounts.html
 *
 * PostgreSQL cannot terminate TLS here: a token arrives as a cleartext password, which PostgreSQL passes only to LDAP and
 * PAM; these binaries support neither.
 */
export async function startDatabaseEndpoint(options: DatabaseEndpointOptions) {
  const { postgres, region, findAccessKey, onRefusal = () => undefined, clock = () => new Date() } = options;
  const { key, cert } = options.certificate;
  const secureContext = createSecureContext({ key, cert });
  const socket = { path: join(postgres.socketDirectory, `.s.PGSQL.${postgres.port}`) };
  const roles = new Pool({
    ...clientSettings,
    host: postgres.socketDirectory,
    port: postgres.port,
    user: postgres.superuser,
    database: 'postgres',
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
    max: 1,
    allowExitOnIdle: true,
  });
  // The pool drops a lost connection; without a listener, the error would crash this process.
  roles.on('error', () => undefined);
  const connections = new Set<Socket>();

  function accept(client: Socket): void {
    connections.add(client);
    client.on('close', () => connections.delete(client));
    client.on('error', () => client.destroy());
    // The client disconnected or violates the protocol, or PostgreSQL is down.
    serve(client).catch(() => client.destroy());
  }

  async function serve(client: Socket): Promise<void> {
    const { code, bytes } = await readOpening(client);
    const isEncrypted = client instanceof TLSSocket;
    if (code === sslRequest && !isEncrypted) {
      client.write('S');
      return accept(new TLSSocket(client, { isServer: true, secureContext }));
    }
    if (!isEncrypted) {
      // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/AuroraPostgreSQL.Security.html: `rds.force_ssl`
      return refuse(client, `no pg_hba.conf entry for host "${client.remoteAddress}", no encryption`);
    }
    if (code >>> 16 !== 3) throw new Error(`protocol version ${code >>> 16}`);
    const user = userOf(bytes);
    if ((await roles.query(membership, [user])).rowCount === 0) {
      return relay(client, bytes, { host: postgres.host, port: postgres.port });
    }
    const token = await requestPassword(client);
    const result = await checkToken(token, { host, port, region, user }, findAccessKey, clock());
    const refusal = 'refusal' in result ? result.refusal : options.authorize?.(result.accessKeyId, user);
    // On its socket, PostgreSQL asks for no password: its first message is AuthenticationOk.
    if (refusal === undefined) return relay(client, bytes, socket);
    onRefusal(`refused the token of database user '${user}': ${refusal}`);
    refuse(client, `PAM authentication failed for user "${user}"`);
  }

  const server = createServer({ allowHalfOpen: true }, accept);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    host,
    port,
    /** Closes all connections. */
    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const connection of connections) connection.destroy();
      await Promise.all([closed, roles.end()]);
    },
  };
}

/** A connection's first message may be this code: https://www.postgresql.org/docs/17/protocol-message-formats.html */
const sslRequest = 80877103;

/** Bytes: PostgreSQL's PG_MAX_AUTH_TOKEN_LENGTH. */
const maxMessage = 65_535;

/** Reads a length-prefixed message. `bytes` is the whole message, for forwarding. */
async function readOpening(client: Socket): Promise<{ code: number; bytes: Buffer }> {
  const head = await readExactly(client, 4);
  const bytes = Buffer.concat([head, await readExactly(client, head.readInt32BE(0) - 4)]);
  return { code: bytes.readInt32BE(4), bytes };
}

/** A startup message's parameters: names and values alternate. Like PostgreSQL, the last value of a name wins. */
function userOf(bytes: Buffer): string {
  const fields = bytes.toString('utf8', 8).split('\0');
  let user = '';
  for (let at = 0; fields[at]; at += 2) if (fields[at] === 'user') user = fields[at + 1] ?? '';
  return user;
}

/** Requests a cleartext password. Use over TLS only. */
async function requestPassword(client: Socket): Promise<string> {
  client.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
  const head = await readExactly(client, 5);
  if (head[0] !== 0x70) throw new Error('not a password message');
  const text = await readExactly(client, head.readInt32BE(1) - 4);
  return text.toString('utf8', 0, text.length - 1);
}

async function readExactly(client: Socket, length: number): Promise<Buffer> {
  if (length < 1 || length > maxMessage) throw new Error(`a message of ${length} bytes`);
  // Reads all buffered bytes: with some left, the stream would emit `readable` in a busy loop.
  let received = Buffer.alloc(0);
  while (received.length < length) {
    const chunk: Buffer | null = client.read();
    if (chunk) received = Buffer.concat([received, chunk]);
    else if (client.readableEnded || client.destroyed) throw new Error('the connection ended');
    else await Promise.race([once(client, 'readable'), once(client, 'end'), once(client, 'close')]);
  }
  if (received.length > length) client.unshift(received.subarray(length));
  return received.subarray(0, length);
}

/** Refuses the connection with PostgreSQL's error message, and closes it. */
function refuse(client: Socket, message: string): void {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C28000\0M${message}\0\0`);
  const head = Buffer.from('E....');
  head.writeInt32BE(fields.length + 4, 1);
  client.end(Buffer.concat([head, fields]));
}

/** Pipes between client and PostgreSQL until one disconnects. `bytes`: already read, forwarded first. */
function relay(client: Socket, opening: Buffer, to: NetConnectOpts): void {
  const upstream = connect(to);
  upstream.write(opening);
  client.pipe(upstream);
  upstream.pipe(client);
  client.on('close', () => upstream.destroy());
  upstream.on('error', () => client.destroy());
  // Lets buffered bytes drain.
  upstream.on('close', () => client.destroySoon());
}
