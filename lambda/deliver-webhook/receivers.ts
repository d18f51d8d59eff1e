import { createSecureContext, rootCertificates } from 'node:tls';
import { type ReceiverUrl, readReceiverUrl } from '../../domain/receiver-url';
import { ok, type Result } from '../../domain/result';
import { once } from '../shared/once';
import type { Target } from './connection';
import type { Receivers } from './deliver-webhook';
import { type Deadline, type Post, type Sending, sendRequest } from './http-request';
import { KeptConnections, type Receiver } from './kept-connections';
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
  // At the first delivery over TLS: reading the authorities takes milliseconds of a cold start.
  const secureContext = once(() =>
    createSecureContext({
      ca: [...(settings.certificateAuthorities ?? rootCertificates)],
      minVersion: 'TLSv1.2',
    }),
  );
  const connections = new KeptConnections(secureContext, settings.route);

  return {
    async post({ webhookId, url: text, headers, body }) {
      const url = readReceiverUrl(text, { allowLocal });
      if (!url.ok) return unanswered(url.error);

      const all = deadline(timeout);
      const connecting = deadline(connectTimeout);
      try {
        const receiver = await judge(webhookId, url.value, connecting.signal);
        if (connecting.signal.aborted) return unanswered('connect_timeout');
        if (!receiver.ok) return unanswered(receiver.error);
        const request = { host: hostHeader(url.value), path: url.value.path, headers, body };
        return await send(request, { connections, receiver: receiver.value, connecting, signal: all.signal });
      } finally {
        connecting.clear();
        all.clear();
      }
    },
  };

  /** Over a kept connection, if there is one, and again over another one if that was closed. */
  async function send(request: Post, sending: Sending): Promise<AttemptResult> {
    const { receiver } = sending;
    await connections.settle(receiver);
    const result = await sendRequest(request, sending);
    if (result !== 'connection_lost') return result;
    connections.forget(receiver);
    const connecting = deadline(connectTimeout);
    try {
      const second = await sendRequest(request, { ...sending, connecting });
      return second === 'connection_lost' ? unanswered('connection_closed') : second;
    } finally {
      connecting.clear();
    }
  }

  /** Looks the receiver's name up, for every attempt. Of several addresses one with a kept connection is preferred. */
  async function judge(
    webhookId: string,
    { hostname, port, secure, local }: ReceiverUrl,
    signal: AbortSignal,
  ): Promise<Result<Receiver, string>> {
    const receiverAt = (address: string): Receiver => ({
      webhookId,
      target: { address, port, ...(secure && { serverName: hostname }) },
    });
    if (local) return ok(receiverAt('127.0.0.1'));
    const prefers = (address: string) => connections.has(receiverAt(address));
    const address = await findAddress(hostname, { resolve, signal, random: Math.random, prefers });
    return address.ok ? ok(receiverAt(address.value)) : address;
  }
}

const unanswered = (reason: string): AttemptResult => ({ answered: false, reason });

function hostHeader({ hostname, port, secure }: ReceiverUrl): string {
  return port === (secure ? 443 : 80) ? hostname : `${hostname}:${port}`;
}

function deadline(ms: number): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
