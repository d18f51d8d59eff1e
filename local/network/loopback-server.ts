import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { refuseForeign } from './foreign-requests';

export interface LoopbackRequest {
  readonly method: string;
  /** Raw, with the query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface LoopbackResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LoopbackServer {
  /** Without a slash at its end. */
  readonly url: string;
  close(): Promise<void>;
}

/** Milliseconds for running requests when the server closes. */
const CLOSING_GRACE = 1_000;

/**
 * An HTTP server on a free port of 127.0.0.1 that reads each request whole and answers with one text. Web pages
 * are refused.
 *
 * @param limit the largest body, in bytes; a larger one gets an empty 413
 */
export function startLoopbackServer(
  handle: (request: LoopbackRequest) => Promise<LoopbackResponse>,
  limit: number,
): Promise<LoopbackServer> {
  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (refuseForeign(incoming, outgoing)) return;
    const body = await readWhole(incoming, limit);
    const { method = '', url = '', headers } = incoming;
    const response =
      body === 'too-large'
        ? { status: 413, headers: {}, body: '' }
        : await handle({ method, url, headers, body });
    outgoing.writeHead(response.status, {
      ...response.headers,
      'Content-Length': Buffer.byteLength(response.body),
    });
    outgoing.end(response.body);
  }

  // A client that disconnected, or a bug of the service: neither may end the process.
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  // An idle connection is the client's to close: closed here, it may be while the client sends its next request.
  server.keepAliveTimeout = 0;
  return listen(server, 0);
}

/**
 * Listens on 127.0.0.1. On closing, running requests have a second; a second call waits for the first.
 *
 * @param port 0 takes any free one
 * @throws (rejects) with the code EADDRINUSE when the port is taken
 */
export async function listen(server: Server, port: number): Promise<LoopbackServer> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  let closing: Promise<void> | undefined;
  // A connection that is kept alive is idle as soon as its request is answered.
  server.on('request', (_, outgoing) => {
    outgoing.once('close', () => closing && server.closeIdleConnections());
  });
  const close = () =>
    new Promise<void>((closed) => {
      const timer = setTimeout(() => server.closeAllConnections(), CLOSING_GRACE);
      server.close(() => {
        clearTimeout(timer);
        closed();
      });
      server.closeIdleConnections();
    });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

async function readWhole(incoming: IncomingMessage, limit: number): Promise<Buffer | 'too-large'> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= limit) chunks.push(chunk);
  }
  return length <= limit ? Buffer.concat(chunks) : 'too-large';
}
