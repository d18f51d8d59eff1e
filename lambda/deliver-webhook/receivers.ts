import { promises as dns } from 'node:dns';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIPv4, type Socket } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import * as ipaddr from 'ipaddr.js';
import type { AttemptReason } from '../../domain/delivery';
import { type ReceiverUrl, readReceiverUrl } from '../../domain/receiver-url';
import { fail, ok, type Result } from '../../domain/result';
import type { Receivers, WebhookRequest } from './deliver-webhook';
import { type AttemptResult, responseTimeout } from './retry-schedule';

/** Resolves a name to IPv4 addresses; rejects with an error code of `node:dns`. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface ReceiverSettings {
  /** Permits `http` to this machine: see `localReceiversVariable`. @default false */
  readonly allowLocal?: boolean;
  /** Milliseconds for DNS lookup, connection and TLS handshake. @default 5,000 */
  readonly connectTimeout?: number;
  /** Milliseconds in total. @default `responseTimeout` */
  readonly timeout?: number;
  /** Milliseconds that a connection may be idle. @default 4,000: before servers close it, after 5 s or more */
  readonly idleTimeout?: number;
  /** @default the machine's DNS servers */
  readonly resolve?: Resolve;
  /** PEM. @default Node.js's copy of Mozilla's list, without `NODE_EXTRA_CA_CERTS` */
  readonly certificateAuthorities?: readonly string[];
  /** Replaces a checked address when connecting, for tests. @default - the same address */
  readonly route?: (address: string) => string;
}

/** Limits of what we read of a response, in bytes. */
const maxHeadBytes = 16 * 1024;
const maxBodyBytes = 16 * 1024;
/** Bytes received per request: head, body, and anything else, such as empty lines or interim responses. */
const maxBytes = 256 * 1024;
/** Milliseconds for the body, which is discarded: an endless one would delay the whole batch. */
const bodyTimeout = 1_000;

/** Cached agents. */
const maxAgents = 200;

/** Receivers on the internet, never inside the VPC: `readReceiverUrl` and `isPublicUnicast` reject the rest. */
export function createReceivers(settings: ReceiverSettings = {}): Receivers {
  const { allowLocal = false, resolve = resolveByDns } = settings;
  const { route = (address) => address } = settings;
  let secureContext: SecureContext | undefined;
  /** Least recently used first. */
  const agents = new Map<string, http.Agent>();

  return {
    async post(request) {
      const read = readReceiverUrl(request.url, { allowLocal });
      if (!read.ok) return unanswered(read.error);
      const url = read.value;
      const within = (milliseconds: number, reason: AttemptReason) =>
        request.limit !== undefined && request.limit < milliseconds
          ? deadline(request.limit, 'slow')
          : deadline(milliseconds, reason);
      const connect = () => within(settings.connectTimeout ?? 5_000, 'connect_timeout');
      const all = within(settings.timeout ?? responseTimeout, 'timeout');
      let connecting = connect();
      try {
        const address = await findAddress(request.webhookId, url, connecting.signal);
        if (connecting.signal.aborted) return unanswered(connecting.signal.reason);
        if (!address.ok) return unanswered(address.error);
        const options = optionsOf(request, url, address.value);
        const result = await send(options, request.body, connecting.signal, all.signal);
        if (result !== 'connection_lost') return result;
        closeIdle(options.agent);
        connecting.clear();
        connecting = connect();
        const again = await send(options, request.body, connecting.signal, all.signal);
        return again === 'connection_lost' ? unanswered('connection_closed') : again;
      } finally {
        connecting.clear();
        all.clear();
      }
    },
  };

  /**
   * Resolves the receiver's name for every attempt. A single non-public address rejects them all. Of several, it prefers one
   * with an idle connection, and otherwise picks at random, so that a dead address does not get every attempt.
   */
  async function findAddress(
    webhookId: string,
    { hostname, port, secure }: ReceiverUrl,
    signal: AbortSignal,
  ): Promise<Result<string, AttemptReason>> {
    if (!secure) return ok('127.0.0.1');
    let addresses: readonly string[];
    try {
      addresses = await resolve(hostname, signal);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return fail(code === 'ENOTFOUND' || code === 'ENODATA' ? 'name_not_found' : 'name_lookup_failed');
    }
    if (!addresses.every(isPublicUnicast)) return fail('address_not_public');
    const connected = addresses.find((address) => {
      const agent = agents.get(keyOf(webhookId, hostname, address, port));
      return agent !== undefined && Object.keys(agent.freeSockets).length > 0;
    });
    const address = connected ?? addresses[Math.floor(Math.random() * addresses.length)];
    return address === undefined ? fail('name_not_found') : ok(address);
  }

  function optionsOf(
    { webhookId, headers, body }: WebhookRequest,
    { hostname, port, secure, path }: ReceiverUrl,
    address: string,
  ) {
    return {
      agent: agentOf(keyOf(webhookId, hostname, address, port), secure),
      method: 'POST',
      host: secure ? hostname : address,
      port,
      path,
      family: 4,
      // Returns the checked address, so that Node.js does not resolve the name again (DNS rebinding).
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

  /** One per webhook and address: organizations that share a receiver never share a connection. */
  function agentOf(key: string, secure: boolean): http.Agent {
    const idle = { keepAlive: true, timeout: settings.idleTimeout ?? 4_000 };
    const agent = agents.get(key) ?? (secure ? secureAgent(idle) : new http.Agent(idle));
    agents.delete(key);
    agents.set(key, agent);
    const [oldest = ''] = agents.keys();
    const evicted = agents.size > maxAgents && agents.get(oldest);
    if (evicted) {
      agents.delete(oldest);
      closeIdle(evicted);
    }
    return agent;
  }

  function secureAgent(idle: http.AgentOptions): https.Agent {
    // Created lazily: parsing the authorities takes milliseconds of a cold start.
    secureContext ??= createSecureContext({
      ca: [...(settings.certificateAuthorities ?? rootCertificates)],
      minVersion: 'TLSv1.2',
    });
    return new https.Agent({
      ...idle,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      // A resumed session has no certificate to verify the name against.
      maxCachedSessions: 0,
    });
  }
}

/**
 * Whether it is a public IPv4 address: outside of the special-purpose ranges that `ipaddr.js` lists
 * (https://www.iana.org/assignments/iana-ipv4-special-registry), which include the VPC's and those of the metadata
 * services (169.254.0.0/16).
 */
function isPublicUnicast(address: string): boolean {
  return isIPv4(address) && ipaddr.IPv4.parse(address).range() === 'unicast';
}

/**
 * Queries the machine's DNS servers for A records only: the VPC has no IPv6. Unlike `dns.lookup`, it reads no hosts file,
 * appends no search domain, blocks no thread, and can be cancelled.
 *
 * @param servers addresses with ports. @default - the machine's servers
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

/** Closes connections that no request uses. `Agent.destroy` would also fail the requests in progress. */
function closeIdle({ freeSockets }: http.Agent): void {
  for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
}

/** @param reason of the attempt that it ends */
function deadline(milliseconds: number, reason: AttemptReason) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(reason), milliseconds);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

const keyOf = (webhookId: string, hostname: string, address: string, port: number) =>
  [webhookId, hostname, address, port].join(' ');

const unanswered = (reason: AttemptReason): AttemptResult => ({ answered: false, reason });

/**
 * Sends one request. The status is the result; the body is read for a second, up to 16 KiB, and discarded without
 * decompression. Redirects are not followed.
 *
 * @returns `connection_lost` if a reused connection was closed before the first byte of a response: the caller sends the
 *   request again
 */
function send(
  options: https.RequestOptions,
  body: string,
  connecting: AbortSignal,
  all: AbortSignal,
): Promise<AttemptResult | 'connection_lost'> {
  return new Promise((resolve) => {
    let result: AttemptResult | undefined;
    let bytes = 0;
    let bodyTimer: NodeJS.Timeout | undefined;
    let isFinished = false;
    const outgoing = (options.servername ? https : http).request(options);
    const finish = (outcome: AttemptResult | 'connection_lost') => {
      isFinished = true;
      connected();
      clearTimeout(bodyTimer);
      all.removeEventListener('abort', timeOut);
      resolve(outcome);
    };
    const end = (reason: AttemptReason) => {
      // Another request may be using the connection by now.
      if (isFinished) return;
      finish(result ?? unanswered(reason));
      outgoing.destroy();
      // After the end of the response, Node.js does not destroy the socket itself.
      outgoing.socket?.destroy();
    };
    const timeOut = () => end(all.reason);
    all.addEventListener('abort', timeOut);
    const connectTimeOut = () => end(connecting.reason);
    connecting.addEventListener('abort', connectTimeOut);
    const connected = () => connecting.removeEventListener('abort', connectTimeOut);

    outgoing.on('socket', (socket: Socket) => {
      if (outgoing.reusedSocket) connected();
      else socket.once(options.servername ? 'secureConnect' : 'connect', connected);
      const count = (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) end('response_too_large');
      };
      // Before the parser, which drops what it cannot parse.
      socket.prependListener('data', count);
      outgoing.once('close', () => socket.off('data', count));
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
        // Waits until the connection is free, or the next request would open another.
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

/** Maps an error of Node's sockets, TLS or HTTP parser to a reason for the attempt's row. */
function failureReason({ code = '', message }: NodeJS.ErrnoException): AttemptReason {
  const named = reasonsByCode[code];
  if (message === 'socket hang up') return 'connection_closed';
  if (named) return named;
  if (certificateCodes.test(code)) return 'certificate_untrusted';
  if (code.startsWith('HPE_')) return 'response_malformed';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO') return 'tls_failed';
  return 'connection_failed';
}

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

/** OpenSSL's verification results: https://nodejs.org/docs/latest-v24.x/api/tls.html#x509-certificate-error-codes */
const certificateCodes =
  /^(UNABLE_TO_|CERT_|CRL_|ERROR_IN_C|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|PATH_LENGTH_|INVALID_PURPOSE|HOSTNAME_MISMATCH)/;
