import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from './start-error';

export interface LoopbackRequest {
  readonly method: string;
  /** Undecoded, with the query. */
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
  /** Has no trailing slash. */
  readonly url: string;
  /** Running requests get a second to complete. Idempotent. */
  close(): Promise<void>;
}

/**
 * An HTTP server on a free port of 127.0.0.1 that buffers each request. It refuses requests from web pages.
 *
 * @param limit maximum body in bytes; a larger one gets an empty 413
 */
export function startLoopbackServer(
  handle: (request: LoopbackRequest) => Promise<LoopbackResponse>,
  limit: number,
): Promise<LoopbackServer> {
  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (refuseForeign(incoming, outgoing)) return;
    const body = await readBody(incoming, limit);
    const { method = '', url = '', headers } = incoming;
    const response = body
      ? await handle({ method, url, headers, body })
      : { status: 413, headers: {}, body: '' };
    outgoing.writeHead(response.status, response.headers).end(response.body);
  }

  // A client that disconnected, or a bug in the service: neither may crash the process.
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  // Clients close idle connections: if we did, a close could race with the next request.
  server.keepAliveTimeout = 0;
  return listen(server, 0);
}

/**
 * Reads even a body that is too large: a client that is still sending would miss the response.
 *
 * @param limit in bytes
 * @returns undefined if it is larger
 */
export async function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= limit) chunks.push(chunk);
  }
  return length <= limit ? Buffer.concat(chunks) : undefined;
}

/**
 * Listens on 127.0.0.1.
 *
 * @param port 0: any free one
 * @throws (rejects) StartError if the port is in use
 */
export async function listen(server: Server, port: number): Promise<LoopbackServer> {
  await once(server.listen(port, '127.0.0.1'), 'listening').catch((error) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new StartError(
      `Port ${port} is in use. Find the program: lsof -nP -iTCP:${port} -sTCP:LISTEN
Or use other ports: npm start -- --port-offset 1000`,
    );
  });
  let closing: Promise<void> | undefined;
  // A keep-alive connection becomes idle once its response is sent.
  server.on('request', (_, outgoing) => {
    outgoing.once('close', () => closing && server.closeIdleConnections());
  });
  async function close(): Promise<void> {
    const deadline = setTimeout(() => server.closeAllConnections(), 1_000);
    await new Promise((closed) => server.close(closed));
    clearTimeout(deadline);
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => (closing ??= close()),
  };
}

/** False for DNS rebinding: a web page whose own name resolves to 127.0.0.1 sends that name. */
export function hasOwnHost({ headersDistinct, socket }: IncomingMessage): boolean {
  const [host = '', ...others] = headersDistinct.host ?? [];
  const own = ['127.0.0.1', 'localhost'].map((name) => `${name}:${socket.localPort}`);
  return others.length === 0 && own.includes(host.toLowerCase());
}

/**
 * Refuses a request that a web page may have sent: one for another host, or with a header that only browsers send
 * (https://fetch.spec.whatwg.org/#origin-header, https://www.w3.org/TR/fetch-metadata/).
 *
 * @returns whether it was refused (403, as in AWS's JSON protocols)
 */
export function refuseForeign(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const { origin, 'sec-fetch-site': site } = incoming.headers;
  if (hasOwnHost(incoming) && origin === undefined && site === undefined) return false;
  const __type = 'AccessDeniedException';
  const message = `Web pages may not call this service, and Host must be 127.0.0.1:${incoming.socket.localPort}.`;
  outgoing
    .writeHead(403, { 'Content-Type': 'application/json', 'x-amzn-ErrorType': __type })
    .end(JSON.stringify({ __type, message }));
  return true;
}
