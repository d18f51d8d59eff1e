import { promises as dns } from 'node:dns';
import { isIPv4 } from 'node:net';
import * as ipaddr from 'ipaddr.js';
import type { AttemptReason } from '../../domain/delivery';
import { type ReceiverUrl, readReceiverUrl } from '../../domain/receiver-url';
import { fail, ok, type Result } from '../../domain/result';
import { timeouts } from '../shared/timeouts';
import { type Connection, type ConnectionSettings, createConnections } from './connections';
import { type Exchanged, exchange } from './exchange';
import type { Receivers, WebhookRequest } from './ports';
import { unanswered } from './retry-schedule';

/** Resolves a name to IPv4 addresses; rejects with an error code of `node:dns`. */
type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface ReceiverSettings extends ConnectionSettings {
  /** Permits `http` to this machine: see `localReceiversVariable`. @default false */
  readonly allowLocal?: boolean;
  /** @default the machine's DNS servers */
  readonly resolve?: Resolve;
}

/** Milliseconds for DNS lookup, connection and TLS handshake. */
const connectTimeout = 5_000;

/** Receivers on the internet, never inside the VPC: `readReceiverUrl` and `isPublicUnicast` reject the rest. */
export function createReceivers(settings: ReceiverSettings = {}): Receivers {
  const { allowLocal = false, resolve = resolveByDns } = settings;
  const connections = createConnections(settings);

  return {
    async post(request) {
      const read = readReceiverUrl(request.url, { allowLocal });
      if (!read.ok) return unanswered(read.error);
      const url = read.value;
      const host = { webhookId: request.webhookId, ...url };
      const within = (milliseconds: number, reason: AttemptReason) =>
        request.limit === undefined ? deadline(milliseconds, reason) : deadline(request.limit, 'slow');
      const connect = () => within(connectTimeout, 'connect_timeout');
      const all = within(timeouts.response, 'timeout');
      let connecting = connect();
      try {
        const addresses = await findAddresses(url, connecting.signal);
        if (connecting.signal.aborted) return unanswered(connecting.signal.reason);
        if (!addresses.ok) return unanswered(addresses.error);
        // What has arrived on idle connections closes them: Node.js reads it within two turns of its loop.
        for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
        const idle = connections.takeIdle(host, addresses.value);
        if (idle) {
          const { result, connection } = await send(idle, request, url, all.signal);
          // 408: the server closed the idle connection, https://www.rfc-editor.org/rfc/rfc9110#section-15.5.9
          if (connection !== 'lost' && !(result.answered && result.status === 408)) return result;
          connecting.clear();
          connecting = connect();
        }
        const signal = AbortSignal.any([connecting.signal, all.signal]);
        const opened = await connections.open(host, addresses.value, signal);
        connecting.clear();
        return opened.ok ? (await send(opened.value, request, url, all.signal)).result : opened.error;
      } finally {
        connecting.clear();
        all.clear();
      }
    },
  };

  /** Resolves the receiver's name for every attempt. A single non-public address rejects them all. */
  async function findAddresses(
    { hostname, secure }: ReceiverUrl,
    signal: AbortSignal,
  ): Promise<Result<readonly string[], AttemptReason>> {
    // On this machine. Programs that listen on `localhost` have one of the two: Node.js since 17 usually ::1.
    if (!secure) return ok(hostname === 'localhost' ? ['::1', '127.0.0.1'] : [hostname]);
    let addresses: readonly string[];
    try {
      addresses = await resolve(hostname, signal);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENODATA') return fail('no_ipv4_address');
      return fail(code === 'ENOTFOUND' ? 'name_not_found' : 'name_lookup_failed');
    }
    return addresses.every(isPublicUnicast) ? ok(addresses) : fail('address_not_public');
  }

  async function send(
    connection: Connection,
    { headers, body }: WebhookRequest,
    { hostname, port, secure, path }: ReceiverUrl,
    signal: AbortSignal,
  ): Promise<Exchanged> {
    const own = {
      Host: port === (secure ? 443 : 80) ? hostname : `${hostname}:${port}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': 'wallet-infrastructure-webhooks',
      'Accept-Encoding': 'identity',
    };
    const exchanged = await exchange(
      connection.socket,
      { path, headers: { ...own, ...headers }, body },
      signal,
    );
    connections.release(connection, exchanged);
    return exchanged;
  }
}

/** None of https://www.iana.org/assignments/iana-ipv4-special-registry: not the VPC, not 169.254.0.0/16 (metadata). */
function isPublicUnicast(address: string): boolean {
  return isIPv4(address) && ipaddr.IPv4.parse(address).range() === 'unicast';
}

/** A records only: the VPC has no IPv6. Unlike `dns.lookup`: no hosts file, no search domain, no blocked thread. */
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

/** @param reason of the attempt that it ends */
function deadline(milliseconds: number, reason: AttemptReason) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(reason), milliseconds);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
