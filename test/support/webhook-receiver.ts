import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { startHttpServer } from './http-server';

/** A delivery as received. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly from: string;
}

/** A receiver of webhooks on this machine. */
export interface WebhookReceiver {
  /** A separate URL for each name. */
  url(name?: string): string;
  /** Responds to a name's deliveries with these statuses in order, repeating the last. @default 204 */
  answer(name: string, ...statuses: number[]): void;
  /** Waits for this many deliveries to a name. @throws Error after 20 s */
  received(name: string, count: number): Promise<readonly Received[]>;
  stop(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received = new Map<string, Received[]>();
  const answers = new Map<string, number[]>();
  const server = await startHttpServer(async (request, response) => {
    const { headers, socket, url = '' } = request;
    const name = url.slice(1);
    const arrival = { headers, body: await text(request), from: socket.remoteAddress ?? '' };
    received.set(name, [...(received.get(name) ?? []), arrival]);
    const statuses = answers.get(name) ?? [];
    response.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 204).end();
  });
  return {
    url: (name = '') => server.url + name,
    answer: (name, ...statuses) => void answers.set(name, statuses),
    async received(name, count) {
      const deadline = Date.now() + 20_000;
      for (;;) {
        const arrivals = received.get(name) ?? [];
        if (arrivals.length >= count) return arrivals;
        if (Date.now() > deadline)
          throw new Error(`${arrivals.length} of ${count} deliveries came to ${name}.`);
        await sleep(20);
      }
    },
    stop: () => server.stop(),
  };
}

/** Verifies a delivery by one of the signature headers. @throws Error if it does not verify */
export function verifyDelivery({ headers, body }: Received, secret: string, signatureHeader: string): void {
  new Webhook(secret).verify(body, {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers[signatureHeader]),
  });
}
