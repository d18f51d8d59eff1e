import { join } from 'node:path';
import { KMSClient } from '@aws-sdk/client-kms';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { localReceiversVariable } from '../../../domain/receiver-url';
import { createWebhookSecrets, type WebhookSecrets } from '../../../lambda/webhooks/webhook-secrets';
import type { Cleanup } from '../../../local/cleanup';
import { startQueues } from '../../../local/queues/queues';
import { bundle } from '../world/bundles';
import { type RunDatabase, startDatabase } from '../world/database';
import { startKeys, webhookSecretsKeyArn } from '../world/keys';
import { createSqs } from '../world/queues';
import { region } from '../world/region';
import { temporaryFolder } from '../world/temporary-folder';
import { LogCounts } from './log-counts';
import { createStageQueues, type RunningStage, type StageQueues, startStage } from './pipeline';
import { type Receivers, startReceivers } from './receivers';
import type { StormSettings } from './settings';
import { readPipelineTemplate } from './template';

/** The webhook pipeline as it runs, and the receivers around it. */
export interface World extends Pick<RunDatabase, 'owner'> {
  readonly sqs: SQSClient;
  readonly secrets: WebhookSecrets;
  readonly receivers: Receivers;
  readonly events: StageQueues;
  readonly deliveries: StageQueues;
  readonly retries: StageQueues;
  readonly fanOut: RunningStage;
  readonly deliver: RunningStage;
  readonly log: LogCounts;
}

/** Starts PostgreSQL, queues, KMS, receivers and the two functions; `cleanup` ends them all. */
export async function startWorld(cleanup: Cleanup, settings: StormSettings): Promise<World> {
  const { clock } = settings;
  const directory = await temporaryFolder(cleanup);
  const template = readPipelineTemplate(join(directory, 'assembly'));
  const bundleOf = (name: string, file: string) => bundle(join(directory, name), { file });

  const receiverBundle = bundleOf('receivers', 'test/runs/storm/receiver-process.ts');
  const receivers = await startReceivers(cleanup, receiverBundle, settings);
  const { owner, variables } = await startDatabase(cleanup, { directory, access: 'direct' });
  const kmsUrl = await startKeys(cleanup, directory);
  const queues = await startQueues();
  cleanup.add(queues.stop);
  const events = await createStageQueues(queues, 'events', template.fanOut, clock);
  const deliveries = await createStageQueues(queues, 'deliveries', template.deliver, clock);
  const retries = await createStageQueues(queues, 'retries', template.retry, clock);

  const sqs = createSqs(queues.url);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const kms = new KMSClient({ region, endpoint: kmsUrl, credentials });
  cleanup.add(async () => {
    sqs.destroy();
    kms.destroy();
  });
  const log = new LogCounts();
  const shared = { settings, log, endpoint: queues.url };
  const common = {
    AWS_ENDPOINT_URL_SQS: queues.url,
    AWS_ENDPOINT_URL_KMS: kmsUrl,
    DELIVERY_QUEUE_URL: deliveries.queue.url,
    RETRY_QUEUE_URL: retries.queue.url,
  };
  const fanOut = startStage(cleanup, {
    ...shared,
    name: 'fan-out-event',
    sources: [{ stage: template.fanOut, queue: events.queue }],
    bundleDirectory: bundleOf('fan-out-event', 'lambda/fan-out-event/handler.ts'),
    environment: {
      ...variables('fan_out_event'),
      ...common,
      EVENTS_QUEUE_URL: events.queue.url,
      EVENTS_DEAD_LETTER_QUEUE_URL: events.deadLetters.url,
    },
  });
  const deliver = startStage(cleanup, {
    ...shared,
    name: 'deliver-webhook',
    sources: [
      { stage: template.deliver, queue: deliveries.queue },
      { stage: template.retry, queue: retries.queue },
    ],
    bundleDirectory: bundleOf('deliver-webhook', 'test/runs/storm/deliver-webhook.ts'),
    environment: {
      ...variables('deliver_webhook'),
      ...common,
      [localReceiversVariable]: 'allowed',
      DELIVERY_DEAD_LETTER_QUEUE_URL: deliveries.deadLetters.url,
      EVENTS_QUEUE_URL: events.queue.url,
      WEBHOOK_SECRETS_KEY_ID: webhookSecretsKeyArn,
      STORM_CLOCK: JSON.stringify(clock),
    },
  });
  const secrets = createWebhookSecrets({ kms, keyId: webhookSecretsKeyArn });
  return { sqs, secrets, owner, receivers, events, deliveries, retries, fanOut, deliver, log };
}
