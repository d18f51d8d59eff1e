import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommandFailed } from '../failure';
import type { SignedRequest } from './verification';

/** A request as it came. */
export interface ReceivedRequest extends SignedRequest {
  readonly method: string;
  /** The address that it came from. */
  readonly from: string;
}

export interface Receiver {
  /** With a slash at its end. */
  readonly url: string;
  close(): Promise<void>;
}

/** Bytes of a body: twice what an event has at most. */
const maxBody = 128 * 1024;

/**
 * Listens on 127.0.0.1.
 *
 * @param place port 0 takes any free one; `option` is how an operator chooses it
 * @param answer gives the status to answer with
 * @throws CommandFailed when the port is taken, or needs root
 */
export function startReceiver(
  { port, option }: { readonly port: number; readonly option: string },
  answer: (arrival: ReceivedRequest) => Promise<number>,
): Promise<Receiver> {
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
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, port, option)));
    server.listen(port, '127.0.0.1', () => {
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
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

function explain(error: NodeJS.ErrnoException, port: number, option: string): Error {
  if (error.code === 'EACCES') {
    return new CommandFailed(
      `Port ${port} may be listened on by root alone.`,
      `Choose one from 1024 up with ${option}; 0 takes any free one.`,
    );
  }
  if (error.code !== 'EADDRINUSE') return error;
  return new CommandFailed(
    `Port ${port} is taken by another program.`,
    `Choose another with ${option}; 0 takes any free one.`,
  );
}
