import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { deliveryId, writeDelivery } from '../../../domain/delivery';
import { ok } from '../../../domain/result';
import { createHandler } from '../../../lambda/deliver-webhook/handler';
import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import { retrySchedule } from '../../../lambda/deliver-webhook/retry-schedule';
import type { Queue } from '../../../lambda/webhooks/queue';
import { createAuthority } from '../../support/certificates';
import { type Figure, interleave, type PartOptions } from './measure';

/** Minimum deliveries per sample. */
const deliveriesOfSample = 50;
const name = 'hooks.example.com';
const webhookId = 'wh-aaaaa-aaaaa-aaaaaaaaaaaaaaaa';
const body = JSON.stringify({ id: 'evt_1', organizationId: 'or-1', kind: 'wallet.created', data: {} });
const headers = {
  'webhook-id': deliveryId('evt_1', webhookId),
  'webhook-timestamp': '1795132800',
  'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
};

/** The delivery function with a webhook in memory, and its HTTP client alone, against a loop over keep-alive connections. */
export async function measureDelivery(options: PartOptions): Promise<Figure[]> {
  const { cleanup, progress } = options;
  const authority = await createAuthority();
  const certificate = JSON.stringify(await authority.issue({ name }));
  const server = fork(join(__dirname, 'receiver.cjs'), [], {
    env: { RECEIVER_CERTIFICATE: certificate },
    execArgv: [],
  });
  cleanup.add(() => server.kill());
  const [port] = await once(server, 'message');
  const figures: Figure[] = [];
  // Milliseconds that a receiver takes to respond: none, and what one on the internet takes.
  for (const after of [0, 50]) {
    progress(`deliver: receiver of ${after} ms`);
    const url = `https://${name}:${port}/?after=${after}`;
    const agent = new Agent({
      keepAlive: true,
      ca: authority.cert,
      lookup: (_name, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    cleanup.add(() => agent.destroy());
    const receivers = createReceivers({
      certificateAuthorities: [authority.cert],
      resolve: async () => ['93.184.216.34'],
      route: () => '127.0.0.1',
    });
    const handler = handlerFor(url, receivers);
    for (const inFlight of [1, 10, 50]) {
      const repeat = (send: () => Promise<unknown>) => async () => {
        const rounds = Math.ceil(deliveriesOfSample / inFlight);
        const began = performance.now();
        for (let round = 0; round < rounds; round += 1) await send();
        return (rounds * inFlight * 1_000) / (performance.now() - began);
      };
      const times = (post: () => Promise<number>) => async () => {
        const statuses = await Promise.all(Array.from({ length: inFlight }, post));
        if (statuses.some((status) => status !== 204)) throw new Error(`Statuses: ${statuses}`);
      };
      const taken = await interleave(
        {
          ours: repeat(() => handler(inFlight)),
          client: repeat(
            times(async () => {
              const result = await receivers.post({ webhookId, url, headers, body });
              return result.answered ? result.status : 0;
            }),
          ),
          raw: repeat(times(() => post(url, agent))),
        },
        20,
        options,
      );
      const what = `${inFlight} in flight, receiver ${after} ms`;
      const against = { against: 'POST loop, keep-alive', unit: '/s', baseline: taken.raw };
      figures.push(
        { what, value: taken.ours, ...against, atLeast: after > 0 ? 0.7 : 0.5 },
        { what: `${what}, client alone`, value: taken.client, ...against },
      );
    }
  }
  return figures;
}

/** The product's handler with its two statements in memory; delivers this many messages. */
function handlerFor(url: string, receivers: ReturnType<typeof createReceivers>) {
  process.env.POWERTOOLS_METRICS_DISABLED = 'true';
  const metrics = new Metrics({ namespace: 'bench' });
  const log = new Logger({ logLevel: 'SILENT' });
  const queue: Queue = { send: async () => ok(null), hide: async () => ok(null) };
  const handler = createHandler({
    ports: {
      webhooks: {
        find: async () => ok({ url, enabled: true, unhealthy: false, secretVersion: 1 }),
        markUnhealthy: async () => ok(null),
        record: async () => ok(null),
        disable: async () => ok(undefined),
      },
      secrets: { secret: async () => ok(Buffer.alloc(32)) },
      ...{
        receivers,
        log,
        events: queue,
        metrics,
        now: Date.now,
        random: Math.random,
        schedule: retrySchedule,
      },
    },
    lanes: { first: queue, second: queue },
    ...{ secondLaneUrl: '/retries', deadLetters: queue, metrics },
  });
  return async (count: number): Promise<void> => {
    const message = {
      ...{
        deliveryId: deliveryId('evt_1', webhookId),
        webhookId,
        eventId: 'evt_1',
        acceptedAt: Date.now(),
        body,
      },
    };
    const Records = Array.from({ length: count }, (_, index) => ({
      ...{ messageId: String(index), receiptHandle: '', eventSourceARN: 'arn:aws:sqs:::deliveries' },
      ...{ body: writeDelivery(message), attributes: { ApproximateReceiveCount: '1' } },
    }));
    const { batchItemFailures } = await handler({ Records } as unknown as Parameters<typeof handler>[0]);
    if (batchItemFailures.length > 0) throw new Error('Not delivered.');
  };
}

const post = (url: string, agent: Agent): Promise<number> =>
  new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body);
    const sent = request(url, {
      ...{ agent, method: 'POST' },
      headers: { 'Content-Type': 'application/json', 'Content-Length': length, ...headers },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.end(body);
  });
