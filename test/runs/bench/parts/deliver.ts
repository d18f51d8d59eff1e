import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalFunction } from '../../../../local/lambda/function';
import { createAuthority } from '../../../support/certificates';
import { bundle } from '../../world/bundles';
import { startDatabase } from '../../world/database';
import { startBundle } from '../../world/functions';
import { startKeys, webhookSecretsKeyArn } from '../../world/keys';
import { deliveryBatch } from '../delivery-batch';
import {
  atLeast,
  atMost,
  compare,
  type Figure,
  type PartOptions,
  type PartResult,
  roundsOf,
} from '../figures';
import { fillRegion, organizationId } from '../fill';
import { interleave, type TakeSample } from '../interleave';
import { measurePipeline } from '../pipeline';
import { type ReceiverProcess, startReceiverProcess } from '../receiver-process';

const inFlight = [1, 10, 50] as const;
/** Milliseconds that a receiver takes to answer: none, and what one on the internet takes. */
const answerTimes = [0, 50] as const;
/** Deliveries of a sample, at least. */
const deliveriesOfSample = 50;

/** One instance of the delivery function against a loop that posts and does nothing else, then the pipeline. */
export async function measureDelivery(options: PartOptions): Promise<PartResult> {
  const figures = await measureInstance(options);
  return { figures: [...figures, await measurePipeline(options)] };
}

async function measureInstance(options: PartOptions): Promise<Figure[]> {
  const { cleanup, directory, signal, progress } = options;
  const authority = await createAuthority();
  const name = 'hooks.example.com';
  const receiver = await startReceiverProcess(cleanup, { name, ...(await authority.issue({ name })) });
  const database = await startDatabase(cleanup, { directory, access: 'data-api', durable: true, signal });
  await fillRegion(database.client, { groups: 1_000, groupsPerOrganization: 1_000 });
  const environment = {
    ...database.variables('deliver_webhook'),
    AWS_ENDPOINT_URL_KMS: await startKeys(cleanup, directory),
    AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1',
    DELIVERY_QUEUE_URL: 'http://127.0.0.1:1/queue',
    RETRY_QUEUE_URL: 'http://127.0.0.1:1/retries',
    DELIVERY_DEAD_LETTER_QUEUE_URL: 'http://127.0.0.1:1/queue',
    EVENTS_QUEUE_URL: 'http://127.0.0.1:1/queue',
    WEBHOOK_SECRETS_KEY_ID: webhookSecretsKeyArn,
    RECEIVER_AUTHORITY: authority.cert,
  };
  const bundleOf = (name: string) =>
    bundle(join(directory, name), { file: `test/runs/bench/functions/${name}.ts` });
  const postLoop = bundleOf('post-loop');
  const delivery = bundleOf('deliver');
  const startWith = (bundleDirectory: string, variables: Record<string, string>) =>
    startBundle(cleanup, {
      bundleDirectory,
      environment: { ...environment, ...variables },
      timeoutSeconds: 75,
      maxInstances: 1,
    });
  const figures: Figure[] = [];
  for (const after of answerTimes) {
    const url = `${receiver.url}?after=${after}`;
    const start = (folder: string, variables = {}) => startWith(folder, { RECEIVER_URL: url, ...variables });
    const webhookId = `wh-aaaaa-aaaaa-${String(after).padStart(16, '0')}`;
    await database.client.query(
      'insert into webhooks (webhook_id, organization_id, url, troubled_at) values ($1, $2, $3, null)',
      [webhookId, organizationId(0), url],
    );
    const functions = {
      ours: start(delivery),
      withoutDatabase: start(delivery, { DELIVER_DATABASE: 'none' }),
      raw: start(postLoop, { POST_CLIENT: 'raw' }),
      client: start(postLoop, { POST_CLIENT: 'product' }),
    };
    progress(`receiver that answers after ${after} ms`);
    for (const count of inFlight) {
      figures.push(...(await measureRate(functions, { webhookId, count, after }, options)));
    }
    figures.push(
      compare(
        {
          what: `memory of the instance, receiver ${after} ms`,
          against: 'POST loop, same client',
          unit: 'MiB',
        },
        [residentMiB(functions.ours)],
        [residentMiB(functions.client)],
      ),
    );
  }
  const local = startWith(delivery, { RECEIVER_URL: receiver.url, DELIVER_DATABASE: 'none' });
  figures.push(await countHandshakes(receiver, local, options));
  return figures;
}

/** A thousand deliveries to ten webhooks, each with a receiver's connections of its own. */
async function countHandshakes(
  receiver: ReceiverProcess,
  local: LocalFunction,
  { signal }: PartOptions,
): Promise<Figure> {
  const webhookIds = Array.from(
    { length: 10 },
    (_, index) => `wh-bbbbb-bbbbb-${String(index).padStart(16, '0')}`,
  );
  const before = await receiver.handshakes();
  for (let batch = 0; batch < 100; batch++) {
    signal.throwIfAborted();
    await deliver(local, deliveryBatch(webhookIds, organizationId(0), webhookIds.length));
  }
  const named = {
    what: 'TLS handshakes, ten receivers',
    against: 'deliveries',
    unit: 'in all',
    goal: atMost(0.05),
  } as const;
  return compare(named, [(await receiver.handshakes()) - before], [100 * webhookIds.length]);
}

interface Functions {
  readonly ours: LocalFunction;
  /** Ours with its two statements answered in the process. */
  readonly withoutDatabase: LocalFunction;
  /** A loop that posts by the product's HTTP client: with all that it checks and bounds. */
  readonly client: LocalFunction;
  /** A loop that posts over kept connections, by Node.js's agent alone. */
  readonly raw: LocalFunction;
}

async function measureRate(
  functions: Functions,
  { webhookId, count, after }: { readonly webhookId: string; readonly count: number; readonly after: number },
  options: PartOptions,
): Promise<Figure[]> {
  const rate =
    (local: LocalFunction): TakeSample =>
    async () => {
      const batches = Math.ceil(deliveriesOfSample / count);
      const events = Array.from({ length: batches }, () =>
        deliveryBatch([webhookId], organizationId(0), count),
      );
      const begin = performance.now();
      for (const event of events) await deliver(local, event);
      return (batches * count * 1_000) / (performance.now() - begin);
    };
  const { ours, withoutDatabase, client, raw } = functions;
  const taken = await interleave(
    { ours: rate(ours), withoutDatabase: rate(withoutDatabase), client: rate(client), raw: rate(raw) },
    roundsOf(options, 20, 3),
  );
  const named = (part: string) => ({
    what: `${count} in flight, receiver ${after} ms${part}`,
    against: 'POST loop, keep-alive',
    unit: '/s' as const,
  });
  const isSlow = after > 0;
  return [
    compare({ ...named(''), ...(isSlow && { goal: atLeast(0.7) }) }, taken.ours, taken.raw),
    compare(
      { ...named(': without the database'), ...(!isSlow && { goal: atLeast(0.5) }) },
      taken.withoutDatabase,
      taken.raw,
    ),
    compare(named(': our client alone'), taken.client, taken.raw),
  ];
}

async function deliver(local: LocalFunction, event: unknown): Promise<void> {
  const result = await local.invoke(event);
  const failures = result.ok
    ? (result.payload as { batchItemFailures: unknown[] }).batchItemFailures
    : [result];
  if (failures.length > 0) throw new Error(`Not delivered: ${JSON.stringify(failures)}`);
}

/** What the instance's process holds in memory now. Linux only, as is Lambda. */
function residentMiB(local: LocalFunction): number {
  const [instance] = local.instances();
  const status = readFileSync(`/proc/${instance?.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}
