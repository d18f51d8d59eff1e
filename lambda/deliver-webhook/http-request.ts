import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { Socket } from 'node:net';
import { failureReason } from './failure-reason';
import type { KeptConnections, Receiver } from './kept-connections';
import type { AttemptResult } from './next-step';

export interface Post {
  /** The `Host` header. */
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Sending {
  readonly connections: KeptConnections;
  readonly receiver: Receiver;
  /** For the connection: cleared when there is one. */
  readonly connecting: Deadline;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

export interface Deadline {
  readonly signal: AbortSignal;
  clear(): void;
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
 * Sends one request. The status is the result; the body is read for a second, up to 16 KiB, never decompressed, never
 * kept. Redirects are not followed. The connection is kept after one answer that ends as it promised, and nothing else.
 *
 * @returns `connection_lost` when a kept connection turned out to be closed before a byte of an answer: to be sent again
 */
export function sendRequest(post: Post, sending: Sending): Promise<AttemptResult | 'connection_lost'> {
  const { connections, receiver, connecting, signal } = sending;
  return new Promise((resolve) => {
    let result: AttemptResult | undefined;
    let isSettled = false;
    const outgoing = request({
      agent: connections,
      ...receiver,
      connectSignal: connecting.signal,
      method: 'POST',
      path: post.path,
      headers: {
        Host: post.host,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(post.body),
        'User-Agent': 'wallet-infrastructure-webhooks',
        'Accept-Encoding': 'identity',
        ...post.headers,
      },
      maxHeaderSize: maxHeadBytes,
    } satisfies RequestOptions & Receiver & { connectSignal: AbortSignal } as RequestOptions);
    const heard = listen(outgoing, () => end('response_too_large'));
    let bodyTimer: NodeJS.Timeout | undefined;
    const settle = (outcome: AttemptResult | 'connection_lost') => {
      isSettled = true;
      signal.removeEventListener('abort', timeOut);
      clearTimeout(bodyTimer);
      heard.stop();
      resolve(outcome);
    };
    const end = (reason: string) => {
      // The connection may be another request's by now.
      if (isSettled) return;
      settle(result ?? { answered: false, reason });
      outgoing.destroy();
      // After the response's end Node.js no longer does it.
      outgoing.socket?.destroy();
    };
    const timeOut = () => end('timeout');
    const onResponse = (response: IncomingMessage) => {
      const retryAfter = response.headers['retry-after'];
      const answer: AttemptResult = {
        answered: true,
        status: response.statusCode as number,
        ...(retryAfter ? { retryAfter } : {}),
      };
      result = answer;
      bodyTimer = setTimeout(() => end('ok'), bodyTimeout);
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes >= maxBodyBytes) end('ok');
      });
      response.on('end', () => {
        if (!heard.nothingBut(response)) return end('ok');
        // Not before the connection is free: the next request would open another one.
        outgoing.once('close', () => settle(answer));
        // An answer to a request that was not sent yet was not one to it. A fast one is heard before the socket says so.
        setImmediate(() => outgoing.writableFinished || end('ok'));
      });
      response.on('close', () => response.complete || end('ok'));
      response.on('error', () => end('ok'));
    };

    let interimResponses = 0;
    outgoing.on('socket', connecting.clear);
    outgoing.on('information', () => {
      interimResponses += 1;
      if (interimResponses > maxInterimResponses) end('too_many_interim_answers');
    });
    outgoing.on('upgrade', () => end('protocol_switched'));
    outgoing.on('response', onResponse);
    outgoing.on('error', (error) => {
      if (outgoing.reusedSocket && heard.bytes() === 0 && !signal.aborted) return settle('connection_lost');
      end(connecting.signal.aborted ? 'connect_timeout' : failureReason(error));
    });
    signal.addEventListener('abort', timeOut, { once: true });
    outgoing.end(post.body);
  });
}

/** Reads along what comes over the request's connection. */
function listen(outgoing: ClientRequest, tooMuch: () => void) {
  let bytes = 0;
  const beginning: Buffer[] = [];
  let socket: Socket | undefined;
  const read = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxHeadBytes + maxBodyBytes) beginning.push(chunk);
    if (bytes > maxBytes) tooMuch();
  };
  // Not before the parser listens, which would lose what came until then, but ahead of it: it throws what it cannot read.
  outgoing.on('socket', (its) => {
    socket = its.prependListener('data', read);
  });
  return {
    bytes: () => bytes,
    /** To leave the connection to others. */
    stop: () => void socket?.off('data', read),
    /**
     * Whether the response is all that came. Node.js sees what follows it only when that is a whole head, or cannot be the
     * beginning of one.
     */
    nothingBut({ statusCode, headers }: IncomingMessage): boolean {
      const heard = Buffer.concat(beginning);
      if (heard.length !== bytes) return false;
      const head = heard.indexOf('\r\n\r\n') + 4;
      if (statusCode === 204 || statusCode === 304) return bytes === head;
      if (headers['transfer-encoding'] !== undefined) return heard.subarray(-5).equals(lastChunk);
      return bytes === head + Number(headers['content-length']);
    },
  };
}

const lastChunk = Buffer.from('0\r\n\r\n');
