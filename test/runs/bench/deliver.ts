import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { deliveryId, newToken, retrySchedule, writeDelivery } from '../../../domain/delivery';
import { ok } from '../../../domain/result';
import { createHandler } from '../../../lambda/deliver-webhook/handler';
import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import { createAuthority } from '../../support/certificates';
import { type Figure, interleave, type PartOptions } from './measure';

/** Milliseconds until the receiver responds (50: typical of the internet), and the ratio to reach. */
const receivers = [
  [0, 0.5],
  [50, 0.7],
] as const;
/** Minimum deliveries per sample. */
const deliveriesOfSample = 50;
const name = 'hooks.example.com';
const webhookId = 'wh-aaaaa-aaaaa-aaaaaaaaaaaaaaaa';
const body = JSON.stringify({ id: 'evt_1', organizationId: 'or-1', kind: 'wallet.created', data: {} });

/** The delivery function with a webhook in memory, against a loop over keep-alive connections. */
export async function measureDelivery(options: PartOptions): Promise<Figure[]> {
  const { cleanup } = options;
  const authority = await createAuthority();
  const certificate = JSON.stringify(await authority.issue({ name }));
  const env = { RECEIVER_CERTIFICATE: certificate };
  const server = fork(join(__dirname, 'receiver.cjs'), [], { env, execArgv: [] });
  cleanup.add(() => server.kill());
  const [port] = await once(server, 'message');
  const figures: Figure[] = [];
  for (const [after, goal] of receivers)
    for (const inFlight of [1, 10, 50]) {
      // Each case has its own: the server closes connections that another case left idle.
      const agent = new Agent({
        keepAlive: true,
        ca: authority.cert,
        lookup: (_name, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
      });
      cleanup.add(() => agent.destroy());
      const url = `https://${name}:${port}/${after}`;
      const deliver = openHandler(url, authority.cert);
      const rounds = Math.ceil(deliveriesOfSample / inFlight);
      const perSecond = (send: () => Promise<unknown>) => async () => {
        const began = performance.now();
        for (let round = 0; round < rounds; round += 1) await send();
        return (rounds * inFlight * 1_000) / (performance.now() - began);
      };
      const variants = {
        value: perSecond(() => deliver(inFlight)),
        baseline: perSecond(() => Promise.all(Array.from({ length: inFlight }, () => post(url, agent)))),
      };
      figures.push({
        what: `${inFlight} in flight, receiver of ${after} ms`,
        against: 'POST loop, keep-alive',
        unit: '/s',
        goal,
        ...(await interleave(variants, 20, options)),
      });
    }
  return figures;
}

/** The product's handler with its two statements in memory. @returns a function that delivers this many messages */
function openHandler(url: string, certificateAuthority: string) {
  process.env.POWERTOOLS_METRICS_DISABLED = 'true';
  const metrics = new Metrics({ namespace: 'bench' });
  const log = new Logger({ logLevel: 'SILENT' });
  const done = async () => ok(null);
  const queue = { send: done, hide: done };
  const handler = createHandler({
    ports: {
      receivers: createReceivers({
        certificateAuthorities: [certificateAuthority],
        resolve: async () => ['93.184.216.34'],
        route: () => '127.0.0.1',
      }),
      webhooks: {
        find: async () => ok({ webhook: { url, enabled: true, unhealthy: false, secretVersion: 1 } }),
        record: async () => ok({ isWritten: true }),
        release: done,
        disable: async () => ok(undefined),
      },
      secrets: { secret: async () => ok(Buffer.alloc(32)) },
      log,
      metrics,
      events: queue,
      schedule: retrySchedule,
      now: Date.now,
      random: Math.random,
      newToken,
    },
    queues: { delivery: queue, retry: queue },
    retryQueueUrl: '/retries',
    deadLetters: queue,
    metrics,
  });
  const ids = { deliveryId: deliveryId('evt_1', webhookId), webhookId, eventId: 'evt_1' };
  return async (count: number): Promise<void> => {
    const record = {
      receiptHandle: '',
      eventSourceARN: 'arn:aws:sqs:::deliveries',
      body: writeDelivery({ ...ids, acceptedAt: Date.now(), body }),
      attributes: { ApproximateReceiveCount: '1' },
    };
    const Records = Array.from({ length: count }, (_, index) => ({ ...record, messageId: String(index) }));
    const { batchItemFailures } = await handler({ Records } as unknown as Parameters<typeof handler>[0]);
    if (batchItemFailures.length > 0) throw new Error('Not delivered.');
  };
}

const post = (url: string, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'webhook-id': deliveryId('evt_1', webhookId),
      'webhook-timestamp': '1795132800',
      'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    };
    const sent = request(url, { agent, method: 'POST', headers });
    sent.on('error', reject);
    sent.on('response', (response) => response.resume().on('end', resolve));
    sent.end(body);
  });
