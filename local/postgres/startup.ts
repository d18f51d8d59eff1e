import type { Socket } from 'node:net';

/**
 * The first messages of a PostgreSQL connection, on the server's side.
 * Source: https://www.postgresql.org/docs/17/protocol-message-formats.html
 */
export type StartupMessage =
  | { readonly kind: 'ssl-request' | 'gss-request' }
  /** `bytes` is the whole message, to be passed on. */
  | { readonly kind: 'cancel'; readonly bytes: Buffer }
  | { readonly kind: 'startup'; readonly bytes: Buffer; readonly parameters: ReadonlyMap<string, string> };

const codes = { cancel: 80877102, ssl: 80877103, gss: 80877104 };

/** The limits of PostgreSQL itself: MAX_STARTUP_PACKET_LENGTH and PG_MAX_AUTH_TOKEN_LENGTH. */
const maxOpening = 10_000;
const maxPassword = 65_535;

/** The other side ended the connection, or does not speak the protocol. */
export class ConnectionGone extends Error {
  override readonly name = 'ConnectionGone';
}

export async function readStartupMessage(socket: Socket): Promise<StartupMessage> {
  const head = await readExactly(socket, 8);
  const length = head.readInt32BE(0);
  if (length < 8 || length > maxOpening) throw new ConnectionGone(`an opening of ${length} bytes`);
  const bytes = length === 8 ? head : Buffer.concat([head, await readExactly(socket, length - 8)]);
  const code = head.readInt32BE(4);
  if (code === codes.ssl) return { kind: 'ssl-request' };
  if (code === codes.gss) return { kind: 'gss-request' };
  if (code === codes.cancel) return { kind: 'cancel', bytes };
  if (code >>> 16 !== 3) throw new ConnectionGone(`protocol version ${code >>> 16}`);
  const words = bytes.toString('utf8', 8).split('\0');
  const parameters = new Map<string, string>();
  for (let at = 0; words[at]; at += 2) parameters.set(words[at] ?? '', words[at + 1] ?? '');
  return { kind: 'startup', bytes, parameters };
}

/** Requests a cleartext password: for connections with TLS only. */
export async function requestPassword(socket: Socket): Promise<string> {
  socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
  const head = await readExactly(socket, 5);
  const length = head.readInt32BE(1) - 4;
  if (head[0] !== 0x70 || length < 1 || length > maxPassword) throw new ConnectionGone('no password message');
  return (await readExactly(socket, length)).toString('utf8', 0, length - 1);
}

/** `sqlState` is the five-character code; the client gets both. */
export interface Refusal {
  readonly sqlState: string;
  readonly message: string;
}

/** Refuses the connection, as PostgreSQL does, and ends it. */
export function refuse(socket: Socket, { sqlState, message }: Refusal): void {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`);
  const head = Buffer.from('E....');
  head.writeInt32BE(fields.length + 4, 1);
  socket.end(Buffer.concat([head, fields]));
}

async function readExactly(socket: Socket, length: number): Promise<Buffer> {
  let held = Buffer.alloc(0);
  while (held.length < length) {
    const chunk: Buffer | null = socket.read();
    if (chunk) held = Buffer.concat([held, chunk]);
    else if (socket.readableEnded || socket.destroyed) throw new ConnectionGone('the connection ended');
    else await change(socket);
  }
  if (held.length > length) socket.unshift(held.subarray(length));
  return held.subarray(0, length);
}

function change(socket: Socket): Promise<void> {
  const events = ['readable', 'end', 'close', 'error'];
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of events) socket.off(event, done);
      resolve();
    };
    for (const event of events) socket.on(event, done);
  });
}
