import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Arrival, Ledger } from './ledger';

/** What a receiver does with a request. */
export type Reaction =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Milliseconds until it answers. @default 0 */
      readonly after?: number;
      /** Sends a byte of the body now and then, without an end. @default false */
      readonly drips?: boolean;
    }
  | 'hang'
  | 'reset';

export interface Receiver {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Starts an HTTP server that receives webhooks under `/WEBHOOK_ID`.
 *
 * @param ledgers by webhook id
 * @param react decides on each request that its ledger takes; the others get 400
 */
export async function startReceiver(
  ledgers: ReadonlyMap<string, Ledger>,
  react: (arrival: Arrival) => Reaction,
): Promise<Receiver> {
  const kept = new WeakSet<object>();
  const server = createServer(async (request, response) => {
    const arrivedAt = Date.now();
    const body = await readBody(request);
    // The function that sent it was killed.
    if (body === undefined) return;
    const ledger = ledgers.get(request.url?.slice(1) ?? '');
    const arrival = ledger?.enter({ headers: request.headers as Record<string, string>, body, arrivedAt });
    if (!ledger || !arrival) return void response.writeHead(400).end();
    const reaction = react(arrival);
    if (reaction === 'reset') {
      if (kept.has(request.socket)) ledger.countCut();
      return void request.socket.resetAndDestroy();
    }
    if (reaction === 'hang') return;
    const { status, headers = {}, after = 0, drips = false } = reaction;
    setTimeout(() => {
      if (response.destroyed) return;
      ledger.countAnswer(arrival, status);
      kept.add(request.socket);
      response.writeHead(status, headers);
      if (!drips) return void response.end();
      const drip = setInterval(() => response.write('.'), 500);
      response.on('close', () => clearInterval(drip));
    }, after);
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Undefined when the connection ends before the body does. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString();
}
