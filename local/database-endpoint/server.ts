import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import {
  ConnectionGone,
  readStartupMessage,
  refuse,
  requestPassword,
  type StartupMessage,
} from '../postgres/startup';
import { checkSignIn, type SignInRules } from './sign-in';

export interface DatabaseEndpointOptions extends SignInRules {
  /** PEM. For `localhost`. */
  readonly certificate: { readonly key: string; readonly cert: string };
  /** Called with the reason of each refused sign-in, which the client does not get. @default - dropped */
  readonly onRefusal?: (reason: string) => void;
}

export interface DatabaseEndpoint {
  readonly host: 'localhost';
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

type Startup = Extract<StartupMessage, { kind: 'startup' }>;

/** As PostgreSQL's `authentication_timeout`. */
const signInTimeout = 60_000;

/**
 * The endpoint of an Aurora cluster with IAM authentication, in front of a local PostgreSQL. It requires TLS; members of
 * `rds_iam` sign in with a token only, all other roles with their password only.
 * Source: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAMDBAuth.DBAccounts.html
 */
export async function startDatabaseEndpoint(options: DatabaseEndpointOptions): Promise<DatabaseEndpoint> {
  const connections = new Set<Socket>();
  const attend = (socket: Socket, serve: (socket: Socket) => Promise<void>): void => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(signInTimeout, () => socket.destroy());
    serve(socket).catch((error: Error) => {
      socket.destroy();
      if (!(error instanceof ConnectionGone)) options.onRefusal?.(error.message);
    });
  };
  const { key, cert } = options.certificate;
  const secure = createTlsServer({ key, cert, minVersion: 'TLSv1.2' }, (encrypted) =>
    attend(encrypted, () => serveEncrypted(encrypted, options, portOf(server))),
  );
  const server = createServer({ allowHalfOpen: true }, (plain) =>
    attend(plain, () => servePlain(plain, options, secure)),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    host: 'localhost',
    port: portOf(server),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function servePlain(
  client: Socket,
  options: DatabaseEndpointOptions,
  secure: TlsServer,
): Promise<void> {
  let opening = await readStartupMessage(client);
  if (opening.kind === 'gss-request') {
    client.write('N');
    opening = await readStartupMessage(client);
  }
  if (opening.kind === 'ssl-request') {
    // Bytes that a third party injects before the handshake must not count as the client's (CVE-2021-23214).
    if (client.readableLength > 0) throw new ConnectionGone('bytes before the TLS handshake');
    client.setTimeout(0);
    client.write('S');
    secure.emit('connection', client);
  } else if (opening.kind === 'cancel') {
    // The keys of running queries are PostgreSQL's own: it gets the request as it is.
    relay(client, opening.bytes, options.postgres);
  } else if (opening.kind === 'startup') {
    // Aurora PostgreSQL 17 has `rds.force_ssl` on. Source:
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/AuroraPostgreSQL.Security.html
    const { user, database } = namesOf(opening);
    const connection = `host "${client.remoteAddress}", user "${user}", database "${database}"`;
    refuse(client, { sqlState: '28000', message: `no pg_hba.conf entry for ${connection}, no encryption` });
  } else {
    throw new ConnectionGone('a second request for GSSAPI');
  }
}

async function serveEncrypted(client: Socket, options: DatabaseEndpointOptions, port: number): Promise<void> {
  const { postgres } = options;
  const opening = await readStartupMessage(client);
  if (opening.kind === 'cancel') return relay(client, opening.bytes, postgres);
  if (opening.kind !== 'startup') throw new ConnectionGone('a request for encryption within TLS');
  const password = await requestPassword(client);
  const refusal = await checkSignIn({ ...namesOf(opening), password }, options, port);
  if (refusal) {
    options.onRefusal?.(refusal.reason);
    return refuse(client, refusal);
  }
  // On its socket PostgreSQL requests no password: its first message is that the client is signed in.
  relay(client, opening.bytes, postgres);
}

function namesOf({ parameters }: Startup): { user: string; database: string } {
  const user = parameters.get('user') ?? '';
  return { user, database: parameters.get('database') ?? user };
}

/**
 * Joins the client to PostgreSQL, which gets the bytes that were read already, until one of them ends; what was written
 * before that still arrives.
 */
function relay(client: Socket, opening: Buffer, { socketDirectory, port }: SignInRules['postgres']): void {
  const upstream = connect(join(socketDirectory, `.s.PGSQL.${port}`));
  upstream.write(opening);
  client.setTimeout(0);
  client.pipe(upstream);
  upstream.pipe(client);
  client.on('close', () => upstream.destroy());
  upstream.on('error', () => client.destroy());
  upstream.on('close', () => client.destroySoon());
}
