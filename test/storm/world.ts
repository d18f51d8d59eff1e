import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KMSClient } from '@aws-sdk/client-kms';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Database } from '../../lambda/database/database';
import { localReceiversVariable } from '../../lambda/webhooks/environment';
import { createWebhookSecrets, type WebhookSecrets } from '../../lambda/webhooks/webhook-secrets';
import type { Cleanup } from '../../lib/local/cleanup';
import { startKms } from '../../lib/local/kms/server';
import { type Queue, startQueues } from '../../lib/local/queues/queues';
import { functionCredentials } from '../../lib/local/services/services';
import { bundleProcesses } from './bundles';
import { startDatabase } from './database';
import { LogCounts } from './log-counts';
import { createStageQueues, type RunningStage, startStage } from './pipeline';
import { type Receivers, startReceivers } from './receivers/receivers';
import type { StormSettings } from './settings';
import type { PipelineTemplate } from './template';

/** The webhook pipeline as it runs, and the receivers around it. */
export interface World {
  readonly sqs: SQSClient;
  readonly secrets: WebhookSecrets;
  /** The schema's owner. */
  readonly owner: Database;
  readonly receivers: Receivers;
  readonly events: { readonly queue: Queue; readonly deadLetters: Queue };
  readonly deliveries: { readonly queue: Queue; readonly deadLetters: Queue };
  readonly fanOut: RunningStage;
  readonly deliver: RunningStage;
  readonly log: LogCounts;
}

const region = 'me-central-1';
const keyId = '00000000-0000-4000-8000-000000000000';
const keyArn = `arn:aws:kms:${region}:000000000000:key/${keyId}`;

/** Starts PostgreSQL, queues, KMS, receivers and the two functions; `cleanup` ends them all. */
export async function startWorld(
  cleanup: Cleanup,
  settings: StormSettings,
  template: PipelineTemplate,
): Promise<World> {
  const { clock, maxProcesses } = settings;
  const directory = await mkdtemp(join(tmpdir(), 'wallet-storm-'));
  cleanup.add(() => rm(directory, { recursive: true, force: true }));
  bundleProcesses(directory);

  const receivers = await startReceivers(cleanup, directory, settings);
  const database = await startDatabase(cleanup, { directory, region });
  const kms = await startKms();
  cleanup.add(kms.close);
  kms.create({
    arn: keyArn,
    directory: join(directory, 'keys'),
    name: 'WebhookSecretsKey',
    keySpec: 'HMAC_256',
    keyUsage: 'GENERATE_VERIFY_MAC',
  });
  const queues = await startQueues();
  cleanup.add(queues.stop);
  const shared = { queues, region, clock, maxProcesses, bundles: directory };
  const events = await createStageQueues(queues, { name: 'events', region, stage: template.fanOut, clock });
  const deliveries = await createStageQueues(queues, {
    name: 'deliveries',
    region,
    stage: template.deliver,
    clock,
  });

  const client = {
    region,
    credentials: {
      accessKeyId: functionCredentials.AWS_ACCESS_KEY_ID,
      secretAccessKey: functionCredentials.AWS_SECRET_ACCESS_KEY,
    },
  };
  const sqs = new SQSClient({ ...client, endpoint: queues.url });
  const kmsClient = new KMSClient({ ...client, endpoint: kms.url });
  cleanup.add(async () => {
    sqs.destroy();
    kmsClient.destroy();
  });

  const common = {
    ...functionCredentials,
    AWS_ENDPOINT_URL_SQS: queues.url,
    AWS_ENDPOINT_URL_KMS: kms.url,
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    DELIVERY_QUEUE_URL: deliveries.queue.url,
  };
  const log = new LogCounts();
  const fanOut = startStage(cleanup, {
    ...shared,
    name: 'fan-out-event',
    stage: template.fanOut,
    queue: events.queue,
    log,
    environment: {
      ...common,
      ...database.variables('fan_out_event'),
      EVENTS_QUEUE_URL: events.queue.url,
      EVENTS_DEAD_LETTER_QUEUE_URL: events.deadLetters.url,
    },
  });
  const deliver = startStage(cleanup, {
    ...shared,
    name: 'deliver-webhook',
    stage: template.deliver,
    queue: deliveries.queue,
    log,
    environment: {
      ...common,
      ...database.variables('deliver_webhook'),
      [localReceiversVariable]: 'allowed',
      DELIVERY_DEAD_LETTER_QUEUE_URL: deliveries.deadLetters.url,
      WEBHOOK_SECRETS_KEY_ID: keyArn,
      STORM_CLOCK: JSON.stringify(clock),
    },
  });
  return {
    sqs,
    secrets: createWebhookSecrets({ kms: kmsClient, keyId: keyArn }),
    owner: database.owner,
    receivers,
    events,
    deliveries,
    fanOut,
    deliver,
    log,
  };
}
