import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from '../domain/webhook-secrets';
import { CommandFailed } from './failure';

/** A request as it came. */
export interface ReceivedRequest {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The address that it came from. */
  readonly from: string;
}

/**
 * Listens on 127.0.0.1.
 *
 * @param port 0 takes any free one
 * @param answer gives the status to answer with
 * @returns its URL, with a slash at its end
 */
export async function startReceiver(
  port: number,
  answer: (arrival: ReceivedRequest) => number | Promise<number>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = '', headers, socket } = incoming;
    const body = await text(incoming);
    const status = await answer({ method, headers, body, from: socket.remoteAddress ?? '' });
    return outgoing.writeHead(status, { 'Content-Length': 0 }).end();
  };
  // A sender that disconnects is no failure of the receiver.
  const server = createServer(
    (incoming, outgoing) => void serve(incoming, outgoing).catch(() => outgoing.destroy()),
  );
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    throw new CommandFailed(
      `Port ${port} is not available: ${(error as Error).message}.`,
      'Give another one from 1024 up, or 0 for any free one.',
    );
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** Verifies a delivery with the library of Standard Webhooks, under each signature header. @returns why it does not verify */
export function verify(
  { headers, body }: Pick<ReceivedRequest, 'headers' | 'body'>,
  secret: string,
): string | undefined {
  const header = (name: string) => String(headers[name] ?? '');
  for (const name of signatureHeaders) {
    const standard = {
      'webhook-id': header('webhook-id'),
      'webhook-timestamp': header('webhook-timestamp'),
      'webhook-signature': header(name),
    };
    try {
      new Webhook(secret).verify(body, standard, { jsonParse: false });
    } catch (error) {
      return `${name}: ${(error as Error).message}`;
    }
  }
  return undefined;
}
