import { Agent, request } from 'node:https';
import type { SQSEvent } from 'aws-lambda';
import type { Delivery } from '../../../../domain/delivery';
import { bind } from '../../../../lambda/shared/bind';
import { createTlsReceivers } from './receivers';

const headers = (id: string) => ({
  'webhook-id': id,
  'webhook-timestamp': '1795132800',
  'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  'X-SVC-WEBHOOK-SIGNATURE': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  'Svc-Signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
});

/** The least that a delivery can be: the message's body posted to the receiver, and nothing around it. */
type Post = (delivery: Delivery) => Promise<number>;

/** `raw` keeps its connections and sends as fast as it can; `product` is the product's own client alone. */
const clients: Readonly<Record<string, () => Post>> = {
  raw: () => {
    const agent = new Agent({
      keepAlive: true,
      ca: process.env.RECEIVER_AUTHORITY,
      lookup: (_name, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    return ({ body, deliveryId }) =>
      new Promise((resolve, reject) => {
        const post = request(process.env.RECEIVER_URL ?? '', {
          agent,
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(body),
            ...headers(deliveryId),
          },
        });
        post.on('error', reject);
        post.on('response', (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode ?? 0));
        });
        post.end(body);
      });
  },
  product: () => {
    const receivers = createTlsReceivers();
    return async ({ body, deliveryId, webhookId }) => {
      const result = await receivers.post({
        webhookId,
        url: process.env.RECEIVER_URL ?? '',
        headers: headers(deliveryId),
        body,
      });
      return result.answered ? result.status : 0;
    };
  },
};

/** Posts what the deliveries of a batch hold, side by side, as the product does. */
export const handler = bind(
  (post: Post) =>
    async ({ Records }: SQSEvent) => {
      const statuses = await Promise.all(Records.map(({ body }) => post(JSON.parse(body) as Delivery)));
      const failed = statuses.filter((status) => status !== 204);
      return { batchItemFailures: failed.map(() => ({ itemIdentifier: 'failed' })) };
    },
  () => (clients[process.env.POST_CLIENT ?? ''] as () => Post)(),
);
