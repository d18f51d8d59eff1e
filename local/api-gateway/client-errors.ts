import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Fault, fault, type Reply } from './outcome';
import { HEADER_LIMIT } from './request';

interface Current {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/**
 * Answers malformed HTTP, too large headers and clients that are too slow, which Node.js does not pass on as requests.
 *
 * @param render renders the API's gateway response for a fault
 */
export function answerClientErrors(server: Server, render: (problem: Fault) => Reply): void {
  const current = new WeakMap<Socket, Current>();
  server.on('request', (incoming, outgoing) => {
    current.set(incoming.socket, { incoming, outgoing });
    outgoing.once('close', () => current.delete(incoming.socket));
  });

  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const active = current.get(socket);
    if (!socket.writable || active?.outgoing.headersSent) return socket.destroy();
    // The request before is complete and still runs: the broken one behind it gets no answer.
    if (active?.incoming.complete) return void active.outgoing.once('finish', () => socket.destroySoon());
    socket.end(serialize(render(problemOf(error))));
  });

  server.on('connect', (_, socket: Socket) => {
    socket.end(serialize(render(fault('MISSING_AUTHENTICATION_TOKEN', 'Missing Authentication Token'))));
  });
}

function problemOf({ code }: NodeJS.ErrnoException): Fault {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('REQUEST_TIMEOUT', 'Request Timeout');
  return code === 'HPE_HEADER_OVERFLOW'
    ? fault('REQUEST_TOO_LARGE', `HTTP header is larger than ${HEADER_LIMIT} bytes.`)
    : fault('BAD_REQUEST_PARAMETERS', 'Bad Request');
}

function serialize({ status, headers, body }: Reply): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
