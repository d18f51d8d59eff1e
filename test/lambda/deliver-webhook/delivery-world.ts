import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { DeleteMessageCommand } from '@aws-sdk/client-sqs';
import { type Delivery, deliveryId, writeDelivery } from '../../../domain/delivery';
import { secretText } from '../../../domain/webhook-secrets';
import type { DeliveryPorts, Webhooks } from '../../../lambda/deliver-webhook/deliver-webhook';
import { createHandler } from '../../../lambda/deliver-webhook/handler';
import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import { retrySchedule } from '../../../lambda/deliver-webhook/retry-schedule';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { createQueues } from '../../../lambda/webhooks/queue';
import { createWebhookSecrets, type WebhookSecrets } from '../../../lambda/webhooks/webhook-secrets';
import { FakeKms } from '../../support/fake-kms';
import { type HttpServer, startHttpServer } from '../../support/http-server';
import { recordLog } from '../../support/log';
import { type RegionDatabase, startMigratedDatabase } from '../../support/region-database';
import { startTestQueues, type TestQueue, type TestQueues } from '../../support/sqs';
import { addOrganization, addWebhook, eventText } from '../../support/webhooks';

/** The content of a queue. */
export const emptied = { visible: 0, hidden: 0, delayed: 0 };
export const hidden = { visible: 0, hidden: 1, delayed: 0 };

/** The delivery function with a real database, queues, KMS endpoint and receiver. */
export function useDeliveryWorld(): DeliveryWorld {
  const world = new DeliveryWorld();
  beforeAll(() => world.start());
  beforeEach(() => world.reset());
  afterAll(() => world.stop());
  return world;
}

class DeliveryWorld {
  readonly log = recordLog();
  database!: RegionDatabase;
  readonly kms = new FakeKms();
  webhooks!: Webhooks;
  secrets!: WebhookSecrets;
  organizationId!: string;
  deliveries!: TestQueue;
  retries!: TestQueue;
  events!: TestQueue;
  deadLetters!: TestQueue;
  /** The receiver's response. */
  status = 204;
  /** The receiver's requests. */
  requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  private queues!: TestQueues;
  private receiver!: HttpServer;

  async start(): Promise<void> {
    [this.database, this.queues] = await Promise.all([startMigratedDatabase(), startTestQueues()]);
    this.webhooks = createWebhooks(this.database.as('deliver_webhook'));
    this.receiver = await startHttpServer(async (request, response) => {
      const { url: path = '', headers } = request;
      this.requests.push({ path, headers, body: await text(request) });
      response.writeHead(this.status).end();
    });
  }

  async reset(): Promise<void> {
    this.log.clear();
    this.kms.failing = false;
    this.secrets = createWebhookSecrets({ kms: this.kms.client, keyId: 'key-1' });
    this.status = 204;
    this.requests = [];
    const create = () => this.queues.create();
    [this.deliveries, this.retries, this.deadLetters, this.events, this.organizationId] = await Promise.all([
      create(),
      create(),
      create(),
      create(),
      addOrganization(this.database.owner),
    ]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.receiver, this.database, this.queues].map((part) => part.stop()));
  }

  /** @param url @default - the receiver's */
  addWebhook(url = `${this.receiver.url}in?a=1`): Promise<string> {
    return addWebhook(this.database.owner, this.organizationId, { url });
  }

  async sendDelivery(
    webhookId: string,
    change: Partial<Delivery> = {},
    queue = this.deliveries,
  ): Promise<Delivery> {
    const delivery = {
      deliveryId: deliveryId('ev-1', webhookId),
      webhookId,
      eventId: 'ev-1',
      acceptedAt: Date.now() - 1_500,
      body: eventText(this.organizationId, 'ev-1'),
      ...change,
    };
    await queue.send(writeDelivery(delivery));
    return delivery;
  }

  /** Runs one batch of a lane as Lambda would: deletes what is not reported as failed. */
  async runBatch(
    change: { ports?: Partial<DeliveryPorts>; second?: string; deadLetters?: string; from?: TestQueue } = {},
  ) {
    const { log, secrets, webhooks, from = this.deliveries } = { ...this, ...change };
    const queue = createQueues(() => this.queues.sqs);
    const metrics = new Metrics({ namespace: 'Test', serviceName: 'test' });
    let emitted: Record<string, unknown> = {};
    metrics.publishStoredMetrics = () => {
      emitted = { ...metrics.serializeMetrics() };
      return metrics;
    };
    const handler = createHandler({
      ports: {
        webhooks,
        events: queue(this.events.url),
        secrets,
        receivers: createReceivers({ allowLocal: true }),
        log,
        metrics,
        now: Date.now,
        random: () => 0.5,
        schedule: retrySchedule,
        ...change.ports,
      },
      lanes: { first: queue(this.deliveries.url), second: queue(change.second ?? this.retries.url) },
      secondLaneUrl: this.retries.url,
      deadLetters: queue(change.deadLetters ?? this.deadLetters.url),
      metrics,
    });
    const Records = await from.receive();
    const { batchItemFailures } = await handler({ Records });
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    for (const { messageId, receiptHandle: ReceiptHandle } of Records) {
      if (!failed.has(messageId))
        await this.queues.sqs.send(new DeleteMessageCommand({ QueueUrl: from.url, ReceiptHandle }));
    }
    return { received: Records.length, failed: failed.size, emitted };
  }

  attempts(webhookId: string) {
    return this.database.query`
      select event_id, delivery_id, status, outcome, reason, duration_ms
      from webhook_attempts where webhook_id = ${webhookId} order by webhook_attempt_id`;
  }

  async secret(webhookId: string, version: number): Promise<string> {
    const derived = await this.secrets.secret(webhookId, version);
    if (!derived.ok) throw new Error(derived.error.reason);
    return secretText(derived.value);
  }
}
