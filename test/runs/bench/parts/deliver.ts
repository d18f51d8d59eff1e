import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { localReceiversVariable } from '../../../../lambda/webhooks/environment';
import type { LocalFunction } from '../../../../lib/local/function-runtime';
import { bundle, synthesizeBundles } from '../../world/bundles';
import { startDatabase } from '../../world/database';
import { startBundle } from '../../world/functions';
import { startKeys, webhookSecretsKeyArn } from '../../world/keys';
import { deliveryBatch } from '../delivery-batch';
import { atLeast, compare, type Figure, type PartOptions, type PartResult, roundsOf } from '../figures';
import { fillRegion, organizationId } from '../fill';
import { interleave, type TakeSample } from '../interleave';
import { measurePipeline } from '../pipeline';
import { startReceiverProcess } from '../receiver-process';

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
  const deployed = await synthesizeBundles(join(directory, 'assembly'), signal);
  const receiver = await startReceiverProcess(cleanup);
  const database = await startDatabase(cleanup, { directory, access: 'data-api', durable: true, signal });
  await fillRegion(database.client, { groups: 1_000, groupsPerOrganization: 1_000 });
  const environment = {
    ...database.variables('deliver_webhook'),
    AWS_ENDPOINT_URL_KMS: await startKeys(cleanup, directory),
    AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1',
    DELIVERY_QUEUE_URL: 'http://127.0.0.1:1/queue',
    DELIVERY_DEAD_LETTER_QUEUE_URL: 'http://127.0.0.1:1/queue',
    WEBHOOK_SECRETS_KEY_ID: webhookSecretsKeyArn,
    [localReceiversVariable]: 'allowed',
  };
  const bundleOf = (name: string) =>
    bundle(join(directory, name), { file: `test/runs/bench/functions/${name}.ts` });
  const postLoop = bundleOf('post-loop');
  const withoutDatabase = bundleOf('deliver-without-database');
  const figures: Figure[] = [];
  for (const after of answerTimes) {
    const url = `${receiver.url}?after=${after}`;
    const start = (bundleDirectory: string, variables: Record<string, string> = {}) =>
      startBundle(cleanup, {
        bundleDirectory,
        environment: { ...environment, RECEIVER_URL: url, ...variables },
        timeoutSeconds: 75,
        maxInstances: 1,
      });
    const webhookId = `wh-aaaaa-aaaaa-${String(after).padStart(16, '0')}`;
    await database.client.query(
      'insert into webhooks (webhook_id, organization_id, url) values ($1, $2, $3)',
      [webhookId, organizationId(0), url],
    );
    const functions = {
      ours: start(deployed['deliver-webhook'] ?? ''),
      withoutDatabase: start(withoutDatabase),
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
  return figures;
}

interface Functions {
  readonly ours: LocalFunction;
  /** Ours with its two statements answered in the process. */
  readonly withoutDatabase: LocalFunction;
  /** A loop that posts by the product's HTTP client: with all that it checks and bounds, and a connection for each. */
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
        deliveryBatch(webhookId, organizationId(0), count),
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
  const what = `${count} in flight, receiver ${after} ms`;
  const unit = '/s';
  const goal = atLeast(0.7);
  const against = 'POST loop, same client';
  return [
    compare({ what, against: 'POST loop, keep-alive', unit, goal }, taken.ours, taken.raw),
    compare({ what, against, unit, goal }, taken.ours, taken.client),
    compare({ what: `${what}: without the database`, against, unit }, taken.withoutDatabase, taken.client),
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
