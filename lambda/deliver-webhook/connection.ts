import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';

export interface Target {
  /** An IPv4 address: no further name lookup. */
  readonly address: string;
  readonly port: number;
  /** The name that the receiver's certificate must bear; none for a connection without TLS. */
  readonly serverName?: string;
}

export interface ConnectionOptions {
  /** Asked for by a connection with TLS alone. */
  readonly secureContext: () => SecureContext;
  /** Of an earlier connection to the same receiver, whose certificate was verified. @default - a whole handshake */
  readonly session?: Buffer | undefined;
  readonly signal: AbortSignal;
}

/**
 * Opens a connection to exactly this address, with its TLS handshake. An aborted or failed one leaves nothing open.
 *
 * @throws Error of Node's sockets or TLS; the signal's `AbortError`.
 */
export async function openConnection(
  { address, port, serverName }: Target,
  { secureContext, session, signal }: ConnectionOptions,
): Promise<Socket> {
  const socket =
    serverName === undefined
      ? connectTcp({ host: address, port })
      : connectTls({
          host: address,
          port,
          servername: serverName,
          secureContext: secureContext(),
          ...(session && { session }),
          ALPNProtocols: ['http/1.1'],
          rejectUnauthorized: true,
        });
  // Users of the socket listen for errors themselves: later ones do not matter, and must not crash the process.
  socket.on('error', () => undefined);
  try {
    await once(socket, serverName === undefined ? 'connect' : 'secureConnect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
