import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { createReceivers, type ReceiverSettings } from '../../../lambda/deliver-webhook/receivers';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import { createAuthority, type TestAuthority } from '../../support/certificates';

export type Behaviour = (socket: Socket) => void;

export const receiverName = 'hooks.example.com';
export const publicAddress = '93.184.216.34';

/** Receivers on this machine that follow a script for each connection, and the product's client for them. */
export function useScriptedReceivers() {
  let authority: TestAuthority;
  let certificate: { readonly key: string; readonly cert: string };
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  beforeAll(async () => {
    authority = await createAuthority();
    certificate = await authority.issue({ name: receiverName });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  });

  /** @returns the port */
  async function listen(server: Server): Promise<number> {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  return {
    issue: (...subject: Parameters<TestAuthority['issue']>) => authority.issue(...subject),
    tcp: (behaviour: Behaviour) => listen(createTcpServer(behaviour)),
    tls(behaviour: Behaviour, options: TlsOptions = {}) {
      const server = createTlsServer({ noDelay: true, ...certificate, ...options }, (socket) => {
        socket.on('error', () => undefined);
        behaviour(socket);
      });
      server.on('tlsClientError', () => undefined);
      return listen(server);
    },
    /** @param settings @default - times beyond that of a test: other limits end an attempt */
    client(settings: ReceiverSettings = { connectTimeout: 60_000, timeout: 60_000, idleTimeout: 60_000 }) {
      const receivers = createReceivers({
        certificateAuthorities: [authority.cert],
        resolve: async () => [publicAddress],
        route: () => '127.0.0.1',
        ...settings,
      });
      return (port: number, change: { body?: string; webhookId?: string; limit?: number } = {}) => {
        const url = `https://${receiverName}:${port}/in`;
        return receivers.post({ webhookId: 'wh-1', url, headers: {}, body: '{}', ...change });
      };
    },
  };
}

/** Writes the text once the request has begun to arrive. */
export const say = (text: string | Buffer, then: Behaviour = () => undefined): Behaviour => {
  return (socket) => {
    socket.once('data', () => {
      socket.write(text);
      then(socket);
    });
  };
};
export const ends: Behaviour = (socket) => socket.end();
export const often =
  (text: string | Buffer, everyMs: number): Behaviour =>
  (socket) => {
    const timer = setInterval(() => socket.write(text), everyMs);
    socket.on('close', () => clearInterval(timer));
  };
/** As fast as the connection accepts it. */
export const endlessly =
  (text: string | Buffer): Behaviour =>
  (socket) => {
    const more = () => {
      while (socket.writable && socket.write(text));
    };
    socket.on('drain', more);
    more();
  };

export const answered = (status = 200): AttemptResult => ({ answered: true, status });
export const unanswered = (reason: string): AttemptResult => ({ answered: false, reason });
export const head = 'HTTP/1.1 200 OK\r\n';
/** A valid response to one request. */
export const good = `${head}content-length: 2\r\n\r\nok`;
