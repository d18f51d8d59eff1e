import { createConnection, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { ReceiverUrl } from '../../domain/receiver-url';
import { fail, ok, type Result } from '../../domain/result';
import { type Exchanged, failureOf } from './exchange';
import { type Unanswered, unanswered } from './retry-schedule';

/** Connections are kept per webhook: organizations that share a receiver never share one. */
export interface Host extends Pick<ReceiverUrl, 'hostname' | 'port' | 'secure'> {
  readonly webhookId: string;
}

export interface Connection {
  readonly host: Host;
  readonly address: string;
  readonly socket: Socket;
}

export interface ConnectionSettings {
  /** Milliseconds that a connection may be idle. @default 4,000: before servers close it, after 5 s or more */
  readonly idleTimeout?: number;
  /** PEM. @default Node.js's copy of Mozilla's list, without `NODE_EXTRA_CA_CERTS` */
  readonly certificateAuthorities?: readonly string[];
  /** Replaces a checked address when connecting, for tests. @default - the same address */
  readonly route?: (address: string) => string;
}

/** Milliseconds of silence after which the next address is tried beside the one that is silent. */
const silence = 1_500;
/** Addresses tried in an attempt, so that a name with hundreds is no port scan. Route 53 returns at most eight. */
const maxAddresses = 8;
/** Milliseconds for which an address that did not deliver comes last. */
const failureMemory = 60_000;
/** Hosts, and failed addresses of a host, that are remembered. */
const maxHosts = 200;
const maxFailures = 64;

interface HostState {
  /** Each connection's function takes it out. The least recently used comes first. */
  readonly idle: Map<Connection, () => void>;
  /** When each address failed last, the earliest first: milliseconds since 1970. */
  readonly failures: Map<string, number>;
  /** It sends what no request asked for, so that its next response could be another request's. */
  isUnreliable: boolean;
}

export function createConnections(settings: ConnectionSettings) {
  /** The least recently used first. */
  const hosts = new Map<string, HostState>();
  let secureContext: SecureContext | undefined;

  return {
    /** An idle connection to one of the addresses, the best one if all have failed. */
    takeIdle(host: Host, addresses: readonly string[]): Connection | undefined {
      const { idle, failures, isUnreliable } = stateOf(host);
      if (isUnreliable) return undefined;
      const [best, failed] = rank(failures, addresses);
      const wanted = best.length > 0 ? best : failed.slice(0, 1);
      const connection = [...idle.keys()].findLast(({ address }) => wanted.includes(address));
      if (connection) idle.get(connection)?.();
      return connection;
    },

    /** Opens one to the first of the addresses that accepts. The others receive no request. */
    open(host: Host, addresses: readonly string[], signal: AbortSignal) {
      const state = stateOf(host);
      // On this machine in their order: a refusal by 127.0.0.1 is the reason, not that of a machine without IPv6.
      const ranked = host.secure ? rank(state.failures, addresses).flat().slice(0, maxAddresses) : addresses;
      return openFirst(host, ranked, state, signal);
    },

    /** Keeps it for the next request after a 2xx, or closes it. */
    release(connection: Connection, { result, connection: left }: Exchanged): void {
      const { host, address, socket } = connection;
      const state = stateOf(host);
      const delivered = result.answered && Math.floor(result.status / 100) === 2;
      if (!delivered) remember(state, address);
      if (delivered && left === 'reusable') keep(state, connection);
      else socket.destroy();
    },
  };

  function stateOf({ webhookId, hostname, port }: Host): HostState {
    const key = [webhookId, hostname, port].join(' ');
    const state = hosts.get(key) ?? { idle: new Map(), failures: new Map(), isUnreliable: false };
    hosts.delete(key);
    hosts.set(key, state);
    const [oldest = ''] = hosts.keys();
    const evicted = hosts.size > maxHosts && hosts.get(oldest);
    if (evicted) {
      hosts.delete(oldest);
      for (const { socket } of evicted.idle.keys()) socket.destroy();
    }
    return state;
  }

  /** Until it times out, ends or receives anything: the next response could be another request's. */
  function keep(state: HostState, connection: Connection): void {
    const { socket } = connection;
    const take = () => {
      state.idle.delete(connection);
      socket.off('data', closeUnasked).off('end', close).off('timeout', close).off('close', take);
    };
    const close = () => {
      take();
      socket.destroy();
    };
    const closeUnasked = (chunk: Buffer) => {
      // With a 408, some servers announce that they close an idle connection.
      state.isUnreliable ||= !/^HTTP\/1\.[01] 408 /.test(chunk.toString('latin1'));
      close();
    };
    socket.on('data', closeUnasked).on('end', close).on('timeout', close).on('close', take);
    state.idle.set(connection, take);
  }

  function openFirst(
    host: Host,
    addresses: readonly string[],
    state: HostState,
    signal: AbortSignal,
  ): Promise<Result<Connection, Unanswered>> {
    return new Promise((resolve) => {
      const waiting = [...addresses];
      const trying = new Map<string, Socket>();
      let failure = unanswered('no_ipv4_address');
      let timer: NodeJS.Timeout | undefined;
      const finish = (result: Result<Connection, Unanswered>) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        const sockets = [...trying.values()];
        trying.clear();
        for (const socket of sockets) socket.destroy();
        resolve(result);
      };
      const abort = () => {
        // The last one may have had little time.
        for (const address of [...trying.keys()].slice(0, -1)) remember(state, address);
        finish(fail(unanswered(signal.reason)));
      };
      const tryNext = () => {
        clearTimeout(timer);
        const address = waiting.shift();
        if (address === undefined) {
          if (trying.size === 0) finish(fail(failure));
          return;
        }
        const socket = connect(host, address);
        trying.set(address, socket);
        const failed = (error?: Error) => {
          if (!trying.delete(address)) return;
          failure = error ? failureOf(error, socket) : unanswered('connection_closed');
          remember(state, address);
          tryNext();
        };
        socket.once(host.secure ? 'secureConnect' : 'connect', () => {
          const earlier = [...trying.keys()];
          if (!trying.delete(address)) return;
          for (const slower of earlier.slice(0, earlier.indexOf(address))) remember(state, slower);
          finish(ok({ host, address, socket }));
        });
        socket.on('error', failed).on('close', () => failed());
        if (waiting.length > 0) timer = setTimeout(tryNext, silence);
      };
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
      else tryNext();
    });
  }

  /** Connects to the address, so that the name is not resolved again (DNS rebinding). */
  function connect({ hostname, port, secure }: Host, address: string): Socket {
    const target = { host: settings.route?.(address) ?? address, port };
    const secured = () => ({
      servername: hostname,
      secureContext: authorities(),
      ALPNProtocols: ['http/1.1'],
    });
    // A session is not resumed: it has no certificate to verify the name against.
    const socket = secure ? connectTls({ ...target, ...secured() }) : createConnection(target);
    return socket.setNoDelay().setTimeout(settings.idleTimeout ?? 4_000);
  }

  /** Created lazily: parsing them takes milliseconds of a cold start. */
  function authorities(): SecureContext {
    secureContext ??= createSecureContext({
      ca: [...(settings.certificateAuthorities ?? rootCertificates)],
      minVersion: 'TLSv1.2',
    });
    return secureContext;
  }
}

/** The addresses that have not failed, at random; then those that have, the earliest first. */
function rank(failures: HostState['failures'], addresses: readonly string[]): [string[], string[]] {
  const since = Date.now() - failureMemory;
  const isFailed = (address: string) => (failures.get(address) ?? 0) > since;
  const best = [...new Set(addresses)]
    .filter((address) => !isFailed(address))
    .map((address) => ({ address, order: Math.random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ address }) => address);
  return [best, [...failures.keys()].filter((address) => isFailed(address) && addresses.includes(address))];
}

function remember({ failures }: HostState, address: string): void {
  failures.delete(address);
  failures.set(address, Date.now());
  const [oldest = ''] = failures.keys();
  if (failures.size > maxFailures) failures.delete(oldest);
}
