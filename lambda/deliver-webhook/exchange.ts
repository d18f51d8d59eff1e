import * as http from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { AttemptReason } from '../../domain/delivery';
import { type AttemptResult, type Unanswered, unanswered } from './retry-schedule';

interface HttpRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
}

export interface Exchanged {
  readonly result: AttemptResult;
  /** What the connection is good for afterwards. `closed`: nothing; `lost`: it ended before the first byte of a response. */
  readonly connection: 'reusable' | 'closed' | 'lost';
}

/** Limits of what we read of a response, in bytes. */
const maxHeadBytes = 16 * 1024;
const maxBodyBytes = 16 * 1024;
/** Bytes received per request: head, body, and anything else, such as empty lines or interim responses. */
const maxBytes = 256 * 1024;
/** Milliseconds for the body, which is discarded: an endless one would delay the whole batch. */
const bodyTimeout = 1_000;

/**
 * Sends one request over a connection. A complete status line is the result, whatever follows it: the receiver has processed
 * the request. The body is read for a second, up to 16 KiB, and discarded without decompression. Redirects are not followed.
 *
 * @param signal its reason is that of the attempt
 */
export function exchange(
  socket: Socket,
  { path, headers, body }: HttpRequest,
  signal: AbortSignal,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    let response: http.IncomingMessage | undefined;
    let bytes = 0;
    let isUnasked = false;
    /** What arrived before the head was complete, for a status line that the parser does not reach. */
    let head: Buffer[] = [];
    let bodyTimer: NodeJS.Timeout | undefined;
    let isFinished = false;
    const outgoing = http.request({
      createConnection: () => socket,
      method: 'POST',
      path,
      headers: { ...headers, Connection: 'keep-alive' },
      maxHeaderSize: maxHeadBytes,
    });
    const finish = (exchanged: Exchanged) => {
      isFinished = true;
      clearTimeout(bodyTimer);
      signal.removeEventListener('abort', abort);
      socket.off('data', count);
      if (exchanged.connection !== 'reusable') {
        outgoing.destroy();
        // After the end of the response, Node.js does not destroy the socket itself.
        socket.destroy();
      }
      resolve(exchanged);
    };
    const fail = (failure: Unanswered, connection: 'closed' | 'lost' = 'closed') => {
      if (isFinished) return;
      const result = response ? resultOf(response) : readStatus(Buffer.concat(head).toString('latin1'));
      finish({ result: result ?? failure, connection });
    };
    const end = (reason: AttemptReason) => fail(unanswered(reason));
    const abort = () => end(signal.reason);
    signal.addEventListener('abort', abort);

    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      isUnasked ||= response?.complete === true;
      if (!response) head.push(chunk);
      if (bytes > maxBytes) end('response_too_large');
    };
    // Before the parser, which drops what it cannot parse.
    outgoing.on('socket', () => socket.prependListener('data', count));
    outgoing.on('upgrade', () => end('protocol_switched'));
    outgoing.on('response', (incoming) => {
      response = incoming;
      head = [];
      bodyTimer = setTimeout(() => end('ok'), bodyTimeout);
      let bodyBytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        bodyBytes += chunk.length;
        if (bodyBytes >= maxBodyBytes) end('ok');
      });
      incoming.on('end', () => {
        outgoing.once('close', () => {
          if (isUnasked || !socket.writable) end('ok');
          else if (!isFinished) finish({ result: resultOf(incoming), connection: 'reusable' });
        });
        setImmediate(() => outgoing.writableFinished || end('ok'));
      });
      incoming.on('close', () => incoming.complete || end('ok'));
      incoming.on('error', () => end('ok'));
    });
    outgoing.on('error', (error) => fail(failureOf(error), bytes === 0 ? 'lost' : 'closed'));
    if (signal.aborted) abort();
    else outgoing.end(body);
  });
}

function resultOf({ statusCode, headers }: http.IncomingMessage): AttemptResult {
  const retryAfter = headers['retry-after'];
  return { answered: true, status: statusCode as number, ...(retryAfter && { retryAfter }) };
}

/** https://www.rfc-editor.org/rfc/rfc9112#section-4, with white space as it permits, and any version. */
const statusLine = /^HTTP\/\d(?:\.\d)?[ \t]+([1-9]\d\d)(?:[ \t][^\n]*|\r)?\n/;

/** Reads what the parser does not reach: a complete status line, and `Retry-After` if it has arrived. */
function readStatus(text: string): AttemptResult | undefined {
  for (const head of text.split(/(?<=\n\r?\n)/)) {
    if (head.trim() === '') continue;
    const status = Number(statusLine.exec(head.trimStart())?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) return undefined;
    // Interim responses come before the final one.
    if (status < 200) continue;
    const retryAfter = /\nretry-after[ \t]*:([^\n]*)\n/i.exec(head)?.[1]?.trim();
    return { answered: true, status, ...(retryAfter && { retryAfter }) };
  }
  return undefined;
}

/**
 * Maps an error of Node's sockets, TLS or HTTP parser to what becomes of the attempt.
 *
 * @param socket that failed to connect: it alone tells that a certificate was refused. Node.js has codes for some of OpenSSL's
 *   verification results, and `UNSPECIFIED` for all others: https://nodejs.org/docs/latest-v24.x/api/tls.html#x509-certificate-error-codes
 */
export function failureOf(error: NodeJS.ErrnoException & { reason?: string }, socket?: Socket): Unanswered {
  const { code = '', message } = error;
  const named = reasonsByCode[code];
  if (message === 'socket hang up') return unanswered('connection_closed');
  if (socket instanceof TLSSocket && socket.authorizationError)
    return { ...unanswered(named ?? 'certificate_untrusted'), ...detailOf(message) };
  if (named) return unanswered(named);
  if (code.startsWith('HPE_')) return unanswered('response_malformed');
  if (/^(ERR_(SSL|TLS|OSSL)_|EPROTO$)/.test(code))
    return { ...unanswered('tls_failed'), ...detailOf(error.reason ?? message) };
  return unanswered('connection_failed');
}

const detailOf = (words: string) => ({ detail: words.trim().slice(0, 200) });

const reasonsByCode: Readonly<Record<string, AttemptReason>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  ETIMEDOUT: 'connect_timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_not_yet_valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_wrong_name',
  HPE_HEADER_OVERFLOW: 'response_headers_too_large',
};
