import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { eventually } from './eventually';
import { startHttpServer } from './http-server';

type Received = Readonly<{ headers: IncomingHttpHeaders; body: string; from: string }>;

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>;

export async function startWebhookReceiver() {
  const arrivals = new Map<string, Received[]>();
  const answers = new Map<string, number[]>();
  const arrivedAt = (name: string): readonly Received[] => arrivals.get(name) ?? [];
  const server = await startHttpServer(async (request, response) => {
    const { headers, socket, url = '' } = request;
    const name = url.slice(1);
    const arrival = { headers, body: await text(request), from: socket.remoteAddress ?? '' };
    arrivals.set(name, [...arrivedAt(name), arrival]);
    const statuses = answers.get(name) ?? [];
    response.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 204).end();
  });
  return {
    url: (name = '') => server.url + name,
    /** Responds to a name's deliveries with these statuses in order, repeating the last. @default 204 */
    answer: (name: string, ...statuses: number[]) => void answers.set(name, statuses),
    async received(name: string, count: number) {
      await eventually(() => arrivedAt(name).length >= count);
      return arrivedAt(name);
    },
    stop: () => server.stop(),
  };
}

export function verifyDelivery({ headers, body }: Received, secret: string, signatureHeader: string): void {
  new Webhook(secret).verify(body, {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers[signatureHeader]),
  });
}
