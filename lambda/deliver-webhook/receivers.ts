import type { Socket } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { type ReceiverUrl, readReceiverUrl } from '../webhooks/receiver-url';
import { openConnection, type Target } from './connection';
import type { Receivers } from './deliver-webhook';
import { failureReason } from './failure-reason';
import { sendRequest } from './http-request';
import type { AttemptResult } from './next-step';
import { findAddress, type Resolve, resolveByDns } from './receiver-address';

export interface ReceiverSettings {
  /** Permits `http` to this very machine: see `localReceiversVariable`. @default false */
  readonly allowLocal?: boolean;
  /** Milliseconds for name, connection and handshake. @default 5,000 */
  readonly connectTimeout?: number;
  /** Milliseconds for all. @default 15,000 */
  readonly timeout?: number;
  /** @default the machine's DNS servers */
  readonly resolve?: Resolve;
  /** PEM. @default Mozilla's list as Node.js has it, and not what `NODE_EXTRA_CA_CERTS` adds */
  readonly certificateAuthorities?: readonly string[];
  /** Where a connection to a checked address goes instead, for tests. @default there */
  readonly route?: (target: Target) => Target;
}

/** Receivers on the internet, never inside the VPC: see `readReceiverUrl` and `findAddress` for what is refused. */
export function createReceivers(settings: ReceiverSettings = {}): Receivers {
  const { allowLocal = false, connectTimeout = 5_000, timeout = 15_000, resolve = resolveByDns } = settings;
  const { route = (target: Target) => target } = settings;
  const secureContext = createSecureContext({
    ca: [...(settings.certificateAuthorities ?? rootCertificates)],
    minVersion: 'TLSv1.2',
  });

  return {
    async post(text, headers, body) {
      const url = readReceiverUrl(text, { allowLocal });
      if (!url.ok) return unanswered(url.error);

      const all = deadline(timeout);
      try {
        const socket = await connect(url.value);
        if (typeof socket === 'string') return unanswered(socket);
        return await sendRequest(
          socket,
          { host: hostHeader(url.value), path: url.value.path, headers, body },
          all.signal,
        );
      } finally {
        all.clear();
      }
    },
  };

  /** An open connection, or the reason why there is none. */
  async function connect(url: ReceiverUrl): Promise<Socket | string> {
    const { signal, clear } = deadline(connectTimeout);
    try {
      const address = url.local
        ? ({ ok: true, value: '127.0.0.1' } as const)
        : await findAddress(url.hostname, { resolve, signal, random: Math.random });
      if (signal.aborted) return 'connect_timeout';
      if (!address.ok) return address.error;
      const target = { address: address.value, port: url.port };
      return await openConnection(route(url.secure ? { ...target, serverName: url.hostname } : target), {
        secureContext,
        signal,
      });
    } catch (error) {
      return signal.aborted ? 'connect_timeout' : failureReason(error);
    } finally {
      clear();
    }
  }
}

const unanswered = (reason: string): AttemptResult => ({ answered: false, reason });

function hostHeader({ hostname, port, secure }: ReceiverUrl): string {
  return port === (secure ? 443 : 80) ? hostname : `${hostname}:${port}`;
}

function deadline(ms: number): { readonly signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
