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

/** Bytes of an answer's head, and of its body, that are taken in. */
const maxHeadBytes = 16 * 1024;
const maxBodyBytes = 16 * 1024;
const maxInterimAnswers = 10;
/** Bytes of all that a receiver sends: what is around heads and bodies counts for neither, such as empty lines before. */
const maxBytes = 256 * 1024;
/** Milliseconds for the body, which nobody reads: a receiver that never ends it would hold up a whole batch. */
const bodyTimeout = 1_000;

/**
 * Sends one request over a connection, and closes it. The answer is known with its status; the body is only taken off
 * the receiver's hands, for a second, up to 16 KiB, never unpacked, never kept. Nothing is followed.
 */
export function sendRequest(socket: Socket, post: Post, signal: AbortSignal): Promise<AttemptResult> {
  return new Promise((resolve) => {
    let answer: AttemptResult | undefined;
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
      resolve(answer ?? { answered: false, reason });
      outgoing.destroy();
      socket.destroy();
    };
    const timeOut = () => end('timeout');
    const take = (response: IncomingMessage) => {
      const retryAfter = response.headers['retry-after'];
      answer = {
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

    let interimAnswers = 0;
    // Not before the parser listens: what came until then would be lost to it.
    outgoing.on('socket', () => {
      let bytes = 0;
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) end('response_too_large');
      });
    });
    outgoing.on('information', () => {
      interimAnswers += 1;
      if (interimAnswers > maxInterimAnswers) end('too_many_interim_answers');
    });
    outgoing.on('upgrade', () => end('protocol_switched'));
    outgoing.on('response', take);
    outgoing.on('error', (error) => end(failureReason(error)));
    signal.addEventListener('abort', timeOut, { once: true });
    outgoing.end(post.body);
  });
}
