import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../../lambda/database/sql';
import { retrySchedule } from '../../../lambda/deliver-webhook/next-step';
import { Cleanup } from '../../../local/cleanup';
import { addOrganization, addWebhook } from '../../support/webhooks';
import { longRun } from '../harness/command';
import { numberFrom, wholeNumberFrom } from '../harness/options';
import { publish } from './publisher';
import { fullStorm } from './settings';
import { startWorld, type World } from './world';

interface Options {
  readonly slow: number;
  readonly rate: number;
  readonly seconds: number;
  readonly known?: boolean;
  readonly check?: boolean;
}

/** Milliseconds after which the slow receivers answer. */
const slowness = 14_000;
/** Milliseconds after the slow ones began from which on the other organization must not notice them. */
const grace = 10_000;
/** Milliseconds. */
const goal = { median: 100, worst: 1_500 };

/** The product's clock: a slow receiver is slow by its real timeouts. */
const clock = {
  schedule: retrySchedule,
  connectTimeout: 5_000,
  timeout: 15_000,
  functionTimeout: 75_000,
  visibilityTimeout: 450_000,
};

void longRun<Options>({
  name: 'slow-receivers',
  description: 'Measures how long events of one organization take beside slow receivers of another',
  declare: (command) =>
    command
      .option('--slow <number>', 'slow receivers, which share the events', wholeNumberFrom(0), 1)
      .option('--rate <number>', 'events a second, of each organization', numberFrom(0.1), 5)
      .option('--known', 'the slow receivers were fast before: their webhooks are in good standing')
      .option('--seconds <number>', 'how long', wholeNumberFrom(15), 40)
      .option(
        '--check',
        `exit with 1 for a median over ${goal.median} ms or a worst over ${goal.worst} ms, and not only for lost events`,
      ),
  async run({ slow, rate, seconds, known = false, check = false }, harness) {
    const cleanup = new Cleanup();
    try {
      const world = await startWorld(cleanup, { ...fullStorm, receivers: 8, clock });
      const arrivals = new Map<string, number>();
      const server = createServer((request, response) => {
        const wait = request.url?.startsWith('/slow') ? slowness : 0;
        let body = '';
        request.on('data', (chunk) => {
          body += chunk;
        });
        request.on('end', () => {
          if (wait === 0) arrivals.set(JSON.parse(body).id, Date.now());
          setTimeout(() => response.writeHead(204).end(), wait);
        });
      }).listen(0, '127.0.0.1');
      cleanup.add(async () => {
        server.close();
        server.closeAllConnections();
      });
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const healthy = await subscribe(world, `http://127.0.0.1:${port}/healthy`, 1, true);
      const sick = await subscribe(world, `http://127.0.0.1:${port}/slow`, slow, known);

      await world.deliver.warmUp();
      world.deliver.attach();
      world.fanOut.attach();
      const events = (organizationId: string, prefix: string, count: number, kinds = 1) =>
        Array.from({ length: count }, (_, index) => ({
          id: `${prefix}-${index}`,
          organizationId,
          kind: `kind.${index % kinds}`,
        }));
      await publish(world.sqs, world.events.queue.url, events(healthy, 'warm-up', 50), 50);
      await sleep(5_000);
      harness.progress(`${slow} slow receivers, ${rate} events a second, ${seconds} s`);

      const began = Date.now();
      const seen = events(healthy, 'seen', seconds * rate);
      await Promise.all([
        publish(
          world.sqs,
          world.events.queue.url,
          events(sick, 'slow', slow === 0 ? 0 : seconds * rate, slow),
          rate,
        ),
        publish(world.sqs, world.events.queue.url, seen, rate),
      ]);
      await sleep(slowness + 5_000);
      const delays = seen
        .map(({ id }, index) => ({ sentAt: began + (index * 1_000) / rate, arrivedAt: arrivals.get(id) }))
        .filter(({ sentAt }) => sentAt >= began + grace)
        .map(({ sentAt, arrivedAt = Number.POSITIVE_INFINITY }) => arrivedAt - sentAt)
        .sort((one, other) => one - other);
      const [median = 0, worst = 0] = [delays[Math.floor(delays.length / 2)], delays.at(-1)];
      const report = `From ${grace / 1_000} s on, of ${delays.length} events: median ${Math.round(median)} ms, worst ${Math.round(worst)} ms.`;
      const isSlow = median > goal.median || worst > goal.worst;
      return { report, failed: worst === Number.POSITIVE_INFINITY || (check && isSlow) };
    } finally {
      await cleanup.run();
    }
  },
});

/** An organization with so many webhooks, each for a kind of event of its own. */
async function subscribe({ owner }: World, url: string, count: number, known: boolean): Promise<string> {
  const organizationId = await addOrganization(owner);
  for (let index = 0; index < count; index++) {
    const webhookId = await addWebhook(owner, organizationId, { kinds: [`kind.${index}`] });
    await owner.execute(
      sql`update webhooks set url = ${url}, troubled_at = case when not ${known} then '-infinity'::timestamptz end where webhook_id = ${webhookId}`,
    );
  }
  return organizationId;
}
