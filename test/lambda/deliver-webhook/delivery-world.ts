import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { DeleteMessageCommand } from '@aws-sdk/client-sqs';
import { type Delivery, deliveryId, writeDelivery } from '../../../domain/delivery';
import { secretText } from '../../../domain/webhook-secrets';
import { sql } from '../../../lambda/database/database';
import type { DeliveryPorts, Webhooks } from '../../../lambda/deliver-webhook/deliver-webhook';
import { createHandler, type Dependencies } from '../../../lambda/deliver-webhook/handler';
import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import { retrySchedule } from '../../../lambda/deliver-webhook/retry-schedule';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { createQueues } from '../../../lambda/webhooks/queue';
import { createWebhookSecrets } from '../../../lambda/webhooks/webhook-secrets';
import { type HttpServer, startHttpServer } from '../../support/http-server';
import { recordLog } from '../../support/log';
import { type MacServer, startMacServer } from '../../support/mac-server';
import { type RegionDatabase, startMigratedDatabase } from '../../support/region-database';
import { startTestQueues, type TestQueue, type TestQueues } from '../../support/sqs';
import { addOrganization, addWebhook, eventText } from '../../support/webhooks';

/** What a queue has. */
export const emptied = { visible: 0, hidden: 0, delayed: 0 };
export const hidden = { visible: 0, hidden: 1, delayed: 0 };
export const delayed = { visible: 0, hidden: 0, delayed: 1 };

/** The delivery function's context, for the tests of a file: each part real, but for the time. */
export function useDeliveryWorld(): DeliveryWorld {
  const world = new DeliveryWorld();
  beforeAll(() => world.start());
  beforeEach(() => world.renew());
  afterAll(() => world.stop());
  return world;
}

class DeliveryWorld {
  readonly log = recordLog();
  database!: RegionDatabase;
  mac!: MacServer;
  webhooks!: Webhooks;
  organizationId!: string;
  deliveries!: TestQueue;
  retries!: TestQueue;
  events!: TestQueue;
  deadLetters!: TestQueue;
  /** What the receiver answers. */
  answer: { status: number; headers?: Record<string, string> } = { status: 204 };
  /** What the receiver has got. */
  requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  now: () => number = Date.now;
  private queues!: TestQueues;
  private receiver!: HttpServer;

  async start(): Promise<void> {
    [this.database, this.queues, this.mac] = await Promise.all([
      startMigratedDatabase(),
      startTestQueues(),
      startMacServer(),
    ]);
    this.webhooks = createWebhooks(this.database.as('deliver_webhook'));
    this.receiver = await startHttpServer(async (request, response) => {
      const { url: path = '', headers } = request;
      this.requests.push({ path, headers, body: await text(request) });
      response.writeHead(this.answer.status, this.answer.headers).end();
    });
  }

  /** Of the receiver. */
  get url(): string {
    return `${this.receiver.url}in?a=1`;
  }

  /** New queues and a new organization; everything well. */
  async renew(): Promise<void> {
    this.log.clear();
    this.mac.failing = false;
    this.answer = { status: 204 };
    this.requests = [];
    this.now = Date.now;
    const create = () => this.queues.create();
    [this.deliveries, this.retries, this.deadLetters, this.events] = await Promise.all([
      create(),
      create(),
      create(),
      create(),
    ]);
    this.organizationId = await addOrganization(this.database.owner);
  }

  async stop(): Promise<void> {
    await Promise.all([this.receiver, this.database, this.queues, this.mac].map((part) => part.stop()));
  }

  /** @param url @default - the receiver's */
  addWebhook(url = this.url): Promise<string> {
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

  /** Runs one batch of a lane as Lambda would: what is not reported is deleted. */
  async runBatch(
    change: { ports?: Partial<DeliveryPorts>; second?: string; deadLetters?: string; from?: TestQueue } = {},
  ) {
    const { log, mac, webhooks } = this;
    const metrics = new Metrics({ namespace: 'Test', serviceName: 'test' });
    const dependencies: Dependencies = {
      ports: {
        webhooks,
        events: this.queue(this.events.url),
        secrets: createWebhookSecrets({ kms: mac.kms, keyId: 'key-1' }),
        receivers: createReceivers({ allowLocal: true }),
        log,
        metrics,
        now: () => this.now(),
        random: () => 0.5,
        schedule: retrySchedule,
        ...change.ports,
      },
      lanes: {
        first: this.queue(this.deliveries.url),
        second: this.queue(change.second ?? this.retries.url),
      },
      secondLaneUrl: this.retries.url,
      deadLetters: this.queue(change.deadLetters ?? this.deadLetters.url),
      metrics,
    };
    const from = change.from ?? this.deliveries;
    const emitted: string[] = [];
    const output = jest
      .spyOn(process.stdout, 'write')
      .mockImplementation((text) => emitted.push(String(text)) > 0);
    const consoleLog = jest
      .spyOn(console, 'log')
      .mockImplementation((text) => void emitted.push(String(text)));
    const Records = await from.receive();
    const { batchItemFailures } = await createHandler(dependencies)({ Records });
    output.mockRestore();
    consoleLog.mockRestore();
    const kept = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    for (const { messageId, receiptHandle } of Records) {
      if (!kept.has(messageId)) await this.remove(from, receiptHandle);
    }
    return { received: Records.length, kept: kept.size, emitted };
  }

  async attempts(webhookId: string) {
    const rows = await this.database.owner.execute(sql`
      select event_id, delivery_id, status, outcome, reason, duration_ms
      from webhook_attempts where webhook_id = ${webhookId} order by webhook_attempt_id`);
    return rows.ok ? rows.value : [];
  }

  async rotate(webhookId: string, hoursAgo: number): Promise<void> {
    await this.database.owner.execute(sql`
      update webhooks
      set secret_version = 2, rotated_at = now() - make_interval(mins => ${hoursAgo * 60}::integer)
      where webhook_id = ${webhookId}`);
  }

  async secret(webhookId: string, version: number): Promise<string> {
    const secrets = createWebhookSecrets({ kms: this.mac.kms, keyId: 'key-1' });
    const derived = await secrets.secret(webhookId, version);
    if (!derived.ok) throw new Error(derived.error.reason);
    return secretText(derived.value);
  }

  private queue(url: string) {
    return createQueues(() => this.queues.sqs)(url);
  }

  private async remove({ url: QueueUrl }: TestQueue, ReceiptHandle: string): Promise<void> {
    await this.queues.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  }
}
