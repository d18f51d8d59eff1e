import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { failureReason } from './failure-reason';
import type { AttemptResult } from './next-step';

export interface Post {
  /** The `Host` header. */
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Bytes of a response's head, and of its body, that are read. */
const maxHeadBytes = 16 * 1024;
const maxBodyBytes = 16 * 1024;
const maxInterimResponses = 10;
/** Bytes of all that a receiver sends: also of what is outside of heads and bodies, such as empty lines before. */
const maxBytes = 256 * 1024;
/** Milliseconds for the body, which is discarded: a receiver that never ends it would hold up a whole batch. */
const bodyTimeout = 1_000;

/**
 * Sends one request over a connection, and closes it. The status is the result; the body is read for a second, up to
 * 16 KiB, never decompressed, never kept. Redirects are not followed.
 */
export function sendRequest(socket: Socket, post: Post, signal: AbortSignal): Promise<AttemptResult> {
  return new Promise((resolve) => {
    let result: AttemptResult | undefined;
    const outgoing = request({
      createConnection: () => socket,
      method: 'POST',
      path: post.path,
      headers: {
        Host: post.host,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(post.body),
        'User-Agent': 'wallet-infrastructure-webhooks',
        'Accept-Encoding': 'identity',
        Connection: 'close',
        ...post.headers,
      },
      maxHeaderSize: maxHeadBytes,
    });
    let bodyTimer: NodeJS.Timeout | undefined;
    const end = (reason: string) => {
      signal.removeEventListener('abort', timeOut);
      clearTimeout(bodyTimer);
      resolve(result ?? { answered: false, reason });
      outgoing.destroy();
      socket.destroy();
    };
    const timeOut = () => end('timeout');
    const onResponse = (response: IncomingMessage) => {
      const retryAfter = response.headers['retry-after'];
      result = {
        answered: true,
        status: response.statusCode as number,
        ...(retryAfter ? { retryAfter } : {}),
      };
      bodyTimer = setTimeout(() => end('ok'), bodyTimeout);
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes >= maxBodyBytes) end('ok');
      });
      response.on('close', () => end('ok'));
      response.on('error', () => end('ok'));
    };

    let interimResponses = 0;
    // Not before the parser listens: it would lose what came until then.
    outgoing.on('socket', () => {
      let bytes = 0;
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) end('response_too_large');
      });
    });
    outgoing.on('information', () => {
      interimResponses += 1;
      if (interimResponses > maxInterimResponses) end('too_many_interim_answers');
    });
    outgoing.on('upgrade', () => end('protocol_switched'));
    outgoing.on('response', onResponse);
    outgoing.on('error', (error) => end(failureReason(error)));
    signal.addEventListener('abort', timeOut, { once: true });
    outgoing.end(post.body);
  });
}
