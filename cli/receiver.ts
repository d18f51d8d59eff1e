import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
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

/** Bytes of a body: twice what an event has at most. */
const maxBody = 128 * 1024;

/**
 * Listens on 127.0.0.1.
 *
 * @param place port 0 takes any free one; `option` is how an operator chooses it
 * @param answer gives the status to answer with
 * @returns its URL, with a slash at its end
 * @throws CommandFailed when the port is taken, or needs root
 */
export async function startReceiver(
  { port, option }: { readonly port: number; readonly option: string },
  answer: (arrival: ReceivedRequest) => number | Promise<number>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const body = await readBody(incoming);
    if (body === undefined) return outgoing.writeHead(413, { Connection: 'close' }).end();
    const { method = '', headers, socket } = incoming;
    const status = await answer({ method, headers, body, from: socket.remoteAddress ?? '' });
    return outgoing.writeHead(status, { 'Content-Length': 0 }).end();
  };
  // A sender that goes away is no failure of the receiver.
  const server = createServer(
    (incoming, outgoing) => void serve(incoming, outgoing).catch(() => outgoing.destroy()),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const why = code === 'EADDRINUSE' ? 'it is taken by another program' : message;
      reject(
        new CommandFailed(
          `Port ${port} cannot be listened on: ${why}.`,
          `Choose another from 1024 up with ${option}; 0 takes any free one.`,
        ),
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * Verifies a delivery as any receiver would, with the library of Standard Webhooks, under every header that carries the
 * signature.
 *
 * @returns why it does not verify
 */
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
      new Webhook(secret).verify(body, standard, { jsonParse: false });
    } catch (error) {
      return `${name}: ${(error as Error).message}`;
    }
  }
  return undefined;
}
