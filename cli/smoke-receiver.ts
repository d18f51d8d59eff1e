import { kindOfAddress } from './address';
import { UsedWrongly } from './failure';
import { readFields } from './json';
import { poll } from './poll';
import { type ReceivedRequest, startReceiver } from './receiver';
import type { Target } from './target';
import { requireReceiverUrl } from './webhooks';

export interface ReceiverOptions {
  /** Where deliveries go. @default - the listener's own address, which only an environment of this machine reaches */
  readonly receiverUrl?: string;
  /** Where to listen on 127.0.0.1. @default - any free port on this machine; not at all when a URL is given */
  readonly receiverListen?: number;
}

/** Where the delivery goes. */
interface SmokeReceiver {
  readonly url: string;
  /** The event's delivery; undefined when none came in time. Absent for an external receiver: only that one sees it. */
  readonly delivery?: (seconds: number, signal: AbortSignal) => Promise<ReceivedRequest | undefined>;
  close(): Promise<void>;
}

/**
 * @param eventId what it waits for; it answers everything else with 404
 * @throws UsedWrongly for a deployed environment without a receiver that it can reach; CommandFailed for a port that
 *   cannot be had
 */
export async function openSmokeReceiver(
  target: Target,
  eventId: string,
  { receiverUrl, receiverListen }: ReceiverOptions,
): Promise<SmokeReceiver> {
  const { local, environment } = target;
  if (!local && receiverUrl === undefined) {
    throw new UsedWrongly(
      `Environment ${environment.name} is deployed and reaches no receiver on this machine by itself.`,
      'Give a public one with --receiver-url, lead a URL to this machine (--receiver-listen 8010 --receiver-url https://…), or leave webhooks out with --without-webhook.',
    );
  }
  if (receiverUrl !== undefined) requireReceiverUrl(target, '--receiver-url', receiverUrl);
  if (receiverUrl && receiverListen === undefined) return { url: receiverUrl, close: async () => undefined };

  let arrived: ReceivedRequest | undefined;
  const place = { port: receiverListen ?? 0, option: '--receiver-listen' };
  const receiver = await startReceiver(place, (arrival) => {
    if (arrival.method !== 'POST' || readFields(arrival.body).id !== eventId) return 404;
    arrived ??= arrival;
    return 204;
  });
  return {
    url: receiverUrl ?? receiver.url,
    delivery: (seconds, signal) => poll(() => arrived, { seconds, every: 50, signal }),
    close: receiver.close,
  };
}

/**
 * The address that a delivery came from. In front of the listener, a proxy or tunnel on this machine says it in
 * `X-Forwarded-For`, to which each appends whom it saw: the last public one is who came in from the internet.
 */
export function sourceOf({ headers, from }: Pick<ReceivedRequest, 'headers' | 'from'>): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  const chain = [...forwarded, from].map((address) => address.trim());
  return chain.findLast((address) => ['public', 'documentation'].includes(kindOfAddress(address))) ?? from;
}
