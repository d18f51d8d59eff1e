import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { Postgres } from '../postgres/postgres';
import {
  askPassword,
  ConnectionGone,
  readStartupMessage,
  refuse,
  type StartupMessage,
} from '../postgres/startup';
import { checkSignIn } from './sign-in';
import type { AccessKey } from './token';

export interface DatabaseEndpointOptions {
  readonly postgres: Pick<Postgres, 'host' | 'port' | 'superuser' | 'socketDirectory'>;
  /** PEM. For `localhost`. */
  readonly certificate: { readonly key: string; readonly cert: string };
  /** The region that sign-in tokens must be for. */
  readonly region: string;
  /** Whose sign-in tokens are accepted. */
  readonly credentials: AccessKey;
  /** @default - a free one */
  readonly port?: number;
  /** Called with the reason of each refused sign-in, which the client is not told. @default - dropped */
  readonly onRefusal?: (reason: string) => void;
  /** @default - the present time */
  readonly clock?: () => Date;
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
 * Stands for the endpoint of an Aurora cluster with IAM authentication, in front of a PostgreSQL on this machine. It
 * wants TLS; members of `rds_iam` sign in with a token only, all others with their password only.
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
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
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
    // What a third party slips in before the handshake must not count as the client's (CVE-2021-23214).
    if (client.readableLength > 0) throw new ConnectionGone('bytes before the TLS handshake');
    client.setTimeout(0);
    client.write('S');
    secure.emit('connection', client);
  } else if (opening.kind === 'cancel') {
    cancel(client, opening.bytes, options.postgres);
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
  if (opening.kind === 'cancel') return cancel(client, opening.bytes, postgres);
  if (opening.kind !== 'startup') throw new ConnectionGone('a request for encryption within TLS');
  const password = await askPassword(client);
  const refusal = await checkSignIn({ ...namesOf(opening), password }, { ...options, port });
  if (refusal) {
    options.onRefusal?.(refusal.reason);
    return refuse(client, refusal);
  }
  // Here PostgreSQL asks for no password: its first answer is that the client is signed in.
  const upstream = connect(socketPath(postgres));
  upstream.write(opening.bytes);
  relay(client, upstream);
}

function namesOf({ parameters }: Startup): { user: string; database: string } {
  const user = parameters.get('user') ?? '';
  return { user, database: parameters.get('database') ?? user };
}

const socketPath = ({ socketDirectory, port }: DatabaseEndpointOptions['postgres']): string =>
  join(socketDirectory, `.s.PGSQL.${port}`);

/** The keys of running queries are PostgreSQL's own, so it can be asked to cancel them as they are. */
function cancel(client: Socket, request: Buffer, postgres: DatabaseEndpointOptions['postgres']): void {
  const upstream = connect(socketPath(postgres));
  upstream.end(request);
  relay(client, upstream);
}

/** Joins two connections until one of them ends; what was written before that still arrives. */
function relay(client: Socket, upstream: Socket): void {
  client.setTimeout(0);
  client.pipe(upstream);
  upstream.pipe(client);
  client.on('close', () => upstream.destroy());
  upstream.on('error', () => client.destroy());
  upstream.on('close', () => client.destroySoon());
}
