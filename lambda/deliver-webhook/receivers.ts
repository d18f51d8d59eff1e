import { promises as dns } from 'node:dns';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIPv4, type Socket } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import * as ipaddr from 'ipaddr.js';
import { type ReceiverUrl, readReceiverUrl } from '../../domain/receiver-url';
import { fail, ok, type Result } from '../../domain/result';
import type { Receivers, WebhookRequest } from './deliver-webhook';
import type { AttemptResult } from './retry-schedule';

/** Looks up the IPv4 addresses of a name; rejects with a code of `node:dns`. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface ReceiverSettings {
  /** Permits `http` to this very machine: see `localReceiversVariable`. @default false */
  readonly allowLocal?: boolean;
  /** Milliseconds for name, connection and handshake. @default 5,000 */
  readonly connectTimeout?: number;
  /** Milliseconds for all. @default 15,000 */
  readonly timeout?: number;
  /** Milliseconds that a connection may be idle. @default 4,000: servers close theirs after 5 s and more, and ours go first */
  readonly idleTimeout?: number;
  /** @default the machine's DNS servers */
  readonly resolve?: Resolve;
  /** PEM. @default Mozilla's list as Node.js has it, and not what `NODE_EXTRA_CA_CERTS` adds */
  readonly certificateAuthorities?: readonly string[];
  /** Where a connection to a checked address goes instead, for tests. @default there */
  readonly route?: (address: string) => string;
}

/** Bytes of a response's head, and of its body, that are read. */
const maxHeadBytes = 16 * 1024;
const maxBodyBytes = 16 * 1024;
const maxInterimResponses = 10;
/** Bytes of a connection's responses in all: head, body, and what is outside of both, such as empty lines. */
const maxBytes = 256 * 1024;
/** Milliseconds for the body, which is discarded: a receiver that never ends it would hold up a whole batch. */
const bodyTimeout = 1_000;

/** Agents in memory: more than the deliveries of a batch, so that the oldest has no request. */
const maxAgents = 200;
/** Idle connections of a webhook that stay open. A batch needs ten; the benchmark sends fifty requests at once. */
const maxIdlePerAgent = 50;

/** Receivers on the internet, never inside the VPC: `readReceiverUrl` and `isPublicAddress` say what is refused. */
export function createReceivers(settings: ReceiverSettings = {}): Receivers {
  const { allowLocal = false, resolve = resolveByDns } = settings;
  const { route = (address) => address } = settings;
  let secureContext: SecureContext | undefined;
  /** The least recently used first. */
  const agents = new Map<string, http.Agent>();

  return {
    async post(request) {
      const read = readReceiverUrl(request.url, { allowLocal });
      if (!read.ok) return unanswered(read.error);
      const url = read.value;
      const { limit = Number.POSITIVE_INFINITY } = request;
      const connectTimeout = Math.min(settings.connectTimeout ?? 5_000, limit);
      const all = deadline(Math.min(settings.timeout ?? 15_000, limit));
      const connecting = deadline(connectTimeout);
      try {
        const address = await findAddress(request.webhookId, url, connecting.signal);
        if (connecting.signal.aborted) return unanswered('connect_timeout');
        if (!address.ok) return unanswered(address.error);
        const options = optionsOf(request, url, address.value);
        const result = await send(options, request.body, connectTimeout, all.signal);
        if (result !== 'connection_lost') return result;
        options.agent.destroy();
        const again = await send(options, request.body, connectTimeout, all.signal);
        return again === 'connection_lost' ? unanswered('connection_closed') : again;
      } finally {
        connecting.clear();
        all.clear();
      }
    },
  };

  /**
   * Looks the receiver's name up, for every attempt. Each of its addresses must be public, or all are refused. Of several, one
   * with an idle connection is chosen, or one at random, so that a dead one does not get every attempt.
   */
  async function findAddress(
    webhookId: string,
    { hostname, port, local }: ReceiverUrl,
    signal: AbortSignal,
  ): Promise<Result<string, string>> {
    if (local) return ok('127.0.0.1');
    let addresses: readonly string[];
    try {
      addresses = await resolve(hostname, signal);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return fail(code === 'ENOTFOUND' || code === 'ENODATA' ? 'name_not_found' : 'name_lookup_failed');
    }
    if (!addresses.every(isPublicAddress)) return fail('address_not_public');
    const connected = addresses.find((address) => {
      const agent = agents.get(keyOf(webhookId, hostname, address, port));
      return agent !== undefined && Object.keys(agent.freeSockets).length > 0;
    });
    const address = connected ?? addresses[Math.floor(Math.random() * addresses.length)];
    return address === undefined ? fail('name_not_found') : ok(address);
  }

  function optionsOf(
    { webhookId, headers, body }: WebhookRequest,
    { hostname, port, secure, path, local }: ReceiverUrl,
    address: string,
  ) {
    return {
      agent: agentOf(keyOf(webhookId, hostname, address, port), secure),
      method: 'POST',
      host: local ? address : hostname,
      port,
      path,
      family: 4,
      // To the address that was checked: Node.js looks nothing up by itself.
      lookup: (_name: string, _options: object, answer: (error: null, address: string, family: 4) => void) =>
        answer(null, route(address), 4),
      headers: {
        Host: port === (secure ? 443 : 80) ? hostname : `${hostname}:${port}`,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'User-Agent': 'wallet-infrastructure-webhooks',
        'Accept-Encoding': 'identity',
        ...headers,
      },
      maxHeaderSize: maxHeadBytes,
      ...(secure ? { servername: hostname } : {}),
    };
  }

  /** One for a webhook and an address: what a receiver that many organizations use says reaches its own webhook alone. */
  function agentOf(key: string, secure: boolean): http.Agent {
    const idle = { keepAlive: true, timeout: settings.idleTimeout ?? 4_000, maxFreeSockets: maxIdlePerAgent };
    const agent = agents.get(key) ?? (secure ? secureAgent(idle) : new http.Agent(idle));
    agents.delete(key);
    agents.set(key, agent);
    const [oldest = ''] = agents.keys();
    if (agents.size > maxAgents) {
      agents.get(oldest)?.destroy();
      agents.delete(oldest);
    }
    return agent;
  }

  function secureAgent(idle: http.AgentOptions): https.Agent {
    // At the first delivery over TLS: reading the authorities takes milliseconds of a cold start.
    secureContext ??= createSecureContext({
      ca: [...(settings.certificateAuthorities ?? rootCertificates)],
      minVersion: 'TLSv1.2',
    });
    return new https.Agent({
      ...idle,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      // A resumed session has no certificate to compare the name with.
      maxCachedSessions: 0,
    });
  }
}

/**
 * Whether it is an IPv4 address that anyone on the internet could have: none of the special-purpose ranges that
 * `ipaddr.js` knows (https://www.iana.org/assignments/iana-ipv4-special-registry). The VPC's own ranges and the metadata
 * services (169.254.0.0/16) are among those.
 */
function isPublicAddress(address: string): boolean {
  return isIPv4(address) && ipaddr.IPv4.parse(address).range() === 'unicast';
}

/**
 * Asks the machine's DNS servers for A records only: the VPC has no IPv6, so no connection uses an AAAA record. Unlike
 * `dns.lookup` it reads no hosts file, appends no search domain, occupies no thread, and can be cancelled.
 *
 * @param servers addresses, with ports. @default - the machine's
 */
export async function resolveByDns(
  name: string,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<readonly string[]> {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await resolver.resolve4(name);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function deadline(milliseconds: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), milliseconds);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

const keyOf = (webhookId: string, hostname: string, address: string, port: number) =>
  [webhookId, hostname, address, port].join(' ');

const unanswered = (reason: string): AttemptResult => ({ answered: false, reason });

/**
 * Sends one request. The status is the result; the body is read for a second, up to 16 KiB, and discarded without
 * decompression. Redirects are not followed.
 *
 * @returns `connection_lost` when a connection that was idle turned out to be closed before a byte of an answer: to be sent
 *   again
 */
function send(
  options: https.RequestOptions,
  body: string,
  connectTimeout: number,
  signal: AbortSignal,
): Promise<AttemptResult | 'connection_lost'> {
  return new Promise((resolve) => {
    let result: AttemptResult | undefined;
    let bytes = 0;
    let bodyTimer: NodeJS.Timeout | undefined;
    let isFinished = false;
    const outgoing = (options.servername ? https : http).request(options);
    const connectTimer = setTimeout(() => end('connect_timeout'), connectTimeout);
    const finish = (outcome: AttemptResult | 'connection_lost') => {
      isFinished = true;
      clearTimeout(connectTimer);
      clearTimeout(bodyTimer);
      signal.removeEventListener('abort', timeOut);
      resolve(outcome);
    };
    const end = (reason: string) => {
      // The connection may be another request's by now.
      if (isFinished) return;
      finish(result ?? unanswered(reason));
      outgoing.destroy();
      // After the response's end Node.js no longer does it.
      outgoing.socket?.destroy();
    };
    const timeOut = () => end('timeout');
    signal.addEventListener('abort', timeOut, { once: true });

    outgoing.on('socket', (socket: Socket) => {
      const connected = () => clearTimeout(connectTimer);
      if (outgoing.reusedSocket) connected();
      else socket.once(options.servername ? 'secureConnect' : 'connect', connected);
      const count = (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) end('response_too_large');
      };
      // Ahead of the parser: it throws what it cannot read.
      socket.prependListener('data', count);
      outgoing.once('close', () => socket.off('data', count));
    });
    let interimResponses = 0;
    outgoing.on('information', () => {
      interimResponses += 1;
      if (interimResponses > maxInterimResponses) end('too_many_interim_answers');
    });
    outgoing.on('upgrade', () => end('protocol_switched'));
    outgoing.on('response', (response) => {
      const retryAfter = response.headers['retry-after'];
      const status = response.statusCode as number;
      const answer: AttemptResult = { answered: true, status, ...(retryAfter ? { retryAfter } : {}) };
      result = answer;
      bodyTimer = setTimeout(() => end('ok'), bodyTimeout);
      let bodyBytes = 0;
      response.on('data', (chunk: Buffer) => {
        bodyBytes += chunk.length;
        if (bodyBytes >= maxBodyBytes) end('ok');
      });
      response.on('end', () => {
        // Not before the connection is free: the next request would open another one.
        outgoing.once('close', () => finish(answer));
        setImmediate(() => outgoing.writableFinished || end('ok'));
      });
      response.on('close', () => response.complete || end('ok'));
      response.on('error', () => end('ok'));
    });
    outgoing.on('error', (error) => {
      if (isFinished) return;
      if (outgoing.reusedSocket && bytes === 0) finish('connection_lost');
      else end(failureReason(error));
    });
    outgoing.end(body);
  });
}

/** Why a receiver gave no response: a name for the attempt's row, from an error of Node's sockets, TLS or HTTP parser. */
function failureReason({ code = '', message }: NodeJS.ErrnoException): string {
  const named = reasons[code];
  if (message === 'socket hang up') return 'connection_closed';
  if (named) return named;
  if (certificateCodes.test(code)) return 'certificate_untrusted';
  if (code.startsWith('HPE_')) return 'response_malformed';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO') return 'tls_failed';
  return 'connection_failed';
}

const reasons: Readonly<Record<string, string>> = {
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

/** OpenSSL's verification results: https://nodejs.org/docs/latest-v24.x/api/tls.html#x509-certificate-error-codes */
const certificateCodes =
  /^(UNABLE_TO_|CERT_|CRL_|ERROR_IN_C|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|PATH_LENGTH_|INVALID_PURPOSE|HOSTNAME_MISMATCH)/;
