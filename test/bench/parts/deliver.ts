import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localReceiversVariable } from '../../../lambda/webhooks/environment';
import { Cleanup } from '../../../lib/local/cleanup';
import { type LocalFunction, startFunction } from '../../../lib/local/function-runtime';
import { startKms } from '../../../lib/local/kms/server';
import { bundle, synthesizeBundles } from '../bundles';
import { deliveryBatch } from '../delivery-batch';
import { compare, type Figure, type PartOptions, type PartResult, samplesFor } from '../figures';
import { fillRegion, organizationId } from '../fill';
import { interleave, type TakeSample } from '../interleave';
import { measurePipeline } from '../pipeline';
import { startReceiverProcess } from '../receiver-process';
import { region, startRegion } from '../region';

const inFlight = [1, 10, 50] as const;
/** Milliseconds that a receiver takes to answer: none, and what one on the internet takes. */
const answerTimes = [0, 50] as const;
/** Deliveries of a sample, at least. */
const deliveriesOfSample = 50;

const keyArn = `arn:aws:kms:${region}:000000000000:key/mac`;

/** One instance of the delivery function against a loop that posts and does nothing else, then the pipeline. */
export async function measureDelivery(options: PartOptions): Promise<PartResult> {
  const instance = await measureInstance(options);
  return { figures: [...instance, ...(await measurePipeline(options))] };
}

async function measureInstance(options: PartOptions): Promise<Figure[]> {
  const cleanup = new Cleanup();
  try {
    const directory = await mkdtemp(join(tmpdir(), 'wallet-bench-'));
    cleanup.add(() => rm(directory, { recursive: true }));
    const deployed = await synthesizeBundles(join(directory, 'assembly'), options.signal);
    const receiver = await startReceiverProcess(cleanup);
    const database = await startRegion(cleanup, 'data-api', { durable: true, signal: options.signal });
    await fillRegion(database.client, { groups: 1_000, groupsPerOrganization: 1_000 });
    const kms = await startKms();
    cleanup.add(kms.close);
    kms.create({
      arn: keyArn,
      directory,
      name: 'mac',
      keySpec: 'HMAC_256',
      keyUsage: 'GENERATE_VERIFY_MAC',
    });
    const postLoop = bundle(join(directory, 'post-loop'), { file: 'test/bench/functions/post-loop.ts' });
    const withoutDatabase = bundle(join(directory, 'without-database'), {
      file: 'test/bench/functions/deliver-without-database.ts',
    });
    const start = (bundleDirectory: string, variables: Record<string, string>) => {
      const local = startFunction({
        name: 'bench',
        region,
        bundleDirectory,
        handler: 'index.handler',
        environment: {
          ...database.variables('deliver_webhook'),
          AWS_ENDPOINT_URL_KMS: kms.url,
          AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1',
          DELIVERY_QUEUE_URL: 'http://127.0.0.1:1/queue',
          DELIVERY_DEAD_LETTER_QUEUE_URL: 'http://127.0.0.1:1/queue',
          WEBHOOK_SECRETS_KEY_ID: keyArn,
          [localReceiversVariable]: 'allowed',
          ...variables,
        },
        timeoutSeconds: 75,
        memoryMiB: 512,
        maxInstances: 1,
        onLog: () => undefined,
      });
      cleanup.add(() => local.stop());
      return local;
    };
    const figures: Figure[] = [];
    for (const after of answerTimes) {
      const url = `${receiver.url}?after=${after}`;
      const webhookId = `wh-aaaaa-aaaaa-${String(after).padStart(16, '0')}`;
      await database.client.query(
        'insert into webhooks (webhook_id, organization_id, url) values ($1, $2, $3)',
        [webhookId, organizationId(0), url],
      );
      const functions = {
        ours: start(deployed['deliver-webhook'] ?? '', {}),
        withoutDatabase: start(withoutDatabase, { RECEIVER_URL: url }),
        raw: start(postLoop, { POST_CLIENT: 'raw', RECEIVER_URL: url }),
        client: start(postLoop, { POST_CLIENT: 'product', RECEIVER_URL: url }),
      };
      options.onProgress(`receiver that answers after ${after} ms`);
      for (const count of inFlight) {
        figures.push(...(await measureRate(functions, { webhookId, count, after }, options)));
      }
      figures.push(compareMemory(functions, after));
    }
    return figures;
  } finally {
    await cleanup.run();
  }
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
  setting: { readonly webhookId: string; readonly count: number; readonly after: number },
  options: PartOptions,
): Promise<Figure[]> {
  const { webhookId, count, after } = setting;
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
  const taken = await interleave(
    {
      ours: rate(functions.ours),
      withoutDatabase: rate(functions.withoutDatabase),
      client: rate(functions.client),
      raw: rate(functions.raw),
    },
    { samples: samplesFor(options, 20), warmUp: 3, signal: options.signal },
  );
  const what = `${count} in flight, receiver ${after} ms`;
  const unit = '/s';
  const goal = { bound: 'at least', ratio: 0.7 } as const;
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

function compareMemory({ ours, client }: Functions, after: number): Figure {
  const [value, baseline] = [ours, client].map((local) => [residentMiB(local)]) as [number[], number[]];
  return compare(
    { what: `memory of the instance, receiver ${after} ms`, against: 'POST loop, same client', unit: 'MiB' },
    value,
    baseline,
  );
}

/** What the instance's process holds in memory now. Linux only, as is Lambda. */
function residentMiB(local: LocalFunction): number {
  const [instance] = local.instances();
  const status = readFileSync(`/proc/${instance?.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}
