import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { signatureHeaders } from '../../domain/signature';
import { CommandFailed } from '../shell/failure';

/** A received request. */
export interface ReceivedRequest {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The peer's address. */
  readonly from: string;
}

/**
 * Listens on 127.0.0.1.
 *
 * @param port 0 chooses a free port
 * @param answer returns the response's status
 * @returns its URL, with a trailing slash
 */
export async function startReceiver(
  port: number,
  answer: (arrival: ReceivedRequest) => number | Promise<number>,
) {
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', headers, socket } = incoming;
    try {
      const body = await text(incoming);
      const status = await answer({ method, headers, body, from: socket.remoteAddress ?? '' });
      outgoing.writeHead(status, { 'Content-Length': 0 }).end();
    } catch {
      // The sender disconnected.
      outgoing.destroy();
    }
  });
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    throw new CommandFailed(
      `Port ${port} is not available: ${(error as Error).message}.`,
      'Choose another with --port.',
    );
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Verifies with the library of Standard Webhooks, under each signature header. @returns the reason if invalid */
export function verify(
  { headers, body }: Pick<ReceivedRequest, 'headers' | 'body'>,
  secret: string,
): string | undefined {
  for (const name of signatureHeaders) {
    const standard = {
      'webhook-id': String(headers['webhook-id'] ?? ''),
      'webhook-timestamp': String(headers['webhook-timestamp'] ?? ''),
      'webhook-signature': String(headers[name] ?? ''),
    };
    try {
      new StandardWebhook(secret).verify(body, standard, { jsonParse: false });
    } catch (error) {
      return `${name}: ${(error as Error).message}`;
    }
  }
  return undefined;
}
