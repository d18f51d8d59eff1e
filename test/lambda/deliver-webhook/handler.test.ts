import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { Webhook } from 'standardwebhooks';
import { sql } from '../../../lambda/database/sql';
import type { DeliveryPorts, Webhooks } from '../../../lambda/deliver-webhook/deliver-webhook';
import type { Dependencies } from '../../../lambda/deliver-webhook/dependencies';
import { createHandler } from '../../../lambda/deliver-webhook/handler';
import { createJournal } from '../../../lambda/deliver-webhook/journal';
import { retrySchedule } from '../../../lambda/deliver-webhook/next-step';
import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import { rememberSilentReceivers } from '../../../lambda/deliver-webhook/silent-receivers';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { fail } from '../../../lambda/shared/result';
import { type Delivery, deliveryId, writeDelivery } from '../../../lambda/webhooks/delivery';
import { createQueue } from '../../../lambda/webhooks/queue';
import { secretText } from '../../../lambda/webhooks/signature';
import { createWebhookSecrets } from '../../../lambda/webhooks/webhook-secrets';
import { recordLog } from '../../support/log';
import { type MacServer, startMacServer } from '../../support/mac-server';
import { type RegionDatabase, startMigratedDatabase } from '../../support/region-database';
import { startTestQueues, type TestQueue, type TestQueues } from '../../support/sqs';
import { addOrganization, addWebhook, disableWebhook, eventText } from '../../support/webhooks';

const hour = 3_600_000;
const log = recordLog();
let database: RegionDatabase;
let queues: TestQueues;
let mac: MacServer;
let webhooks: Webhooks;
let deliveries: TestQueue;
let deadLetters: TestQueue;
let organizationId: string;

let receiver: Server;
let url: string;
let answer: { status: number; headers?: Record<string, string> };
let requests: { path: string; headers: IncomingHttpHeaders; body: string }[];
let now: () => number;

beforeAll(async () => {
  [database, queues, mac] = await Promise.all([startMigratedDatabase(), startTestQueues(), startMacServer()]);
  webhooks = createWebhooks(database.as('deliver_webhook'));
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      requests.push({ path, headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(answer.status, answer.headers).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in?a=1`;
});
beforeEach(async () => {
  log.clear();
  mac.failing = false;
  answer = { status: 204 };
  requests = [];
  now = Date.now;
  [deliveries, deadLetters] = await Promise.all([queues.create(), queues.create()]);
  organizationId = await addOrganization(database.owner);
});
afterAll(async () => {
  receiver.close();
  await Promise.all([database.stop(), queues.stop(), mac.stop()]);
});

const queue = (queueUrl: string) => createQueue({ sqs: queues.sqs, url: queueUrl });
const gone = 'http://127.0.0.1:1/000000000000/gone';
const emptied = { visible: 0, hidden: 0, delayed: 0 };
const hidden = { visible: 0, hidden: 1, delayed: 0 };
const delayed = { visible: 0, hidden: 0, delayed: 1 };

async function sendDelivery(webhookId: string, change: Partial<Delivery> = {}): Promise<Delivery> {
  const delivery = {
    deliveryId: deliveryId('ev-1', webhookId),
    webhookId,
    eventId: 'ev-1',
    acceptedAt: Date.now() - 1_500,
    body: eventText(organizationId, 'ev-1'),
    ...change,
  };
  await deliveries.send(writeDelivery(delivery));
  return delivery;
}

/** Runs one batch as Lambda would: what is not reported is deleted. */
async function runBatch(change: { ports?: Partial<DeliveryPorts>; deadLetters?: string } = {}) {
  const metrics = new Metrics({ namespace: 'Test', serviceName: 'test' });
  const dependencies: Dependencies = {
    ports: {
      webhooks,
      secrets: createWebhookSecrets({ kms: mac.kms, keyId: 'key-1' }),
      receivers: createReceivers({ allowLocal: true }),
      silent: rememberSilentReceivers(),
      journal: createJournal({ log, metrics }),
      now: () => now(),
      random: () => 0.5,
      schedule: retrySchedule,
      ...change.ports,
    },
    queue: queue(deliveries.url),
    deadLetters: queue(change.deadLetters ?? deadLetters.url),
    log,
    metrics,
  };
  const emitted: string[] = [];
  const output = jest
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => emitted.push(String(text)) > 0);
  const consoleLog = jest.spyOn(console, 'log').mockImplementation((text) => void emitted.push(String(text)));
  const Records = await deliveries.receive();
  const { batchItemFailures } = await createHandler(dependencies)({ Records });
  output.mockRestore();
  consoleLog.mockRestore();
  const kept = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  for (const { messageId, receiptHandle } of Records) {
    if (!kept.has(messageId)) await remove(receiptHandle);
  }
  return { received: Records.length, kept: kept.size, emitted };
}

async function remove(receiptHandle: string): Promise<void> {
  const { DeleteMessageCommand } = await import('@aws-sdk/client-sqs');
  await queues.sqs.send(new DeleteMessageCommand({ QueueUrl: deliveries.url, ReceiptHandle: receiptHandle }));
}

async function attempts(webhookId: string) {
  const rows = await database.owner.execute(sql`
    select event_id, delivery_id, status, outcome, reason, duration_ms
    from webhook_attempts where webhook_id = ${webhookId} order by webhook_attempt_id`);
  return rows.ok ? rows.value : [];
}

const rotate = (webhookId: string, hoursAgo: number) =>
  database.owner.execute(sql`
    update webhooks
    set secret_version = 2, rotated_at = now() - make_interval(mins => ${hoursAgo * 60}::integer)
    where webhook_id = ${webhookId}`);

async function secret(webhookId: string, version: number): Promise<string> {
  const derived = await createWebhookSecrets({ kms: mac.kms, keyId: 'key-1' }).secret(webhookId, version);
  if (!derived.ok) throw new Error(derived.error.reason);
  return secretText(derived.value);
}

describe('a delivery', () => {
  it('is a signed POST of the event as it came, under both signature names', async () => {
    const webhookId = await addWebhook(database.owner, organizationId, { url });
    const delivery = await sendDelivery(webhookId);
    expect(await runBatch()).toMatchObject({ received: 1, kept: 0 });

    const [request, ...others] = requests;
    expect(others).toEqual([]);
    expect(request).toMatchObject({ path: '/in?a=1', body: delivery.body });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(delivery.body)),
      'accept-encoding': 'identity',
      'webhook-id': delivery.deliveryId,
    });
    const signature = request?.headers['webhook-signature'];
    expect(request?.headers['x-svc-webhook-signature']).toBe(signature);
    expect(request?.headers['svc-signature']).toBe(signature);
    const verified = new Webhook(await secret(webhookId, 1)).verify(
      request?.body ?? '',
      request?.headers as Record<string, string>,
    );
    expect(verified).toEqual(JSON.parse(delivery.body));
    expect(await deliveries.count()).toEqual(emptied);
  });

  it('leaves one row and one line, with ids, status, duration and reason, and nothing else of it', async () => {
    const webhookId = await addWebhook(database.owner, organizationId, { url });
    const delivery = await sendDelivery(webhookId);
    await runBatch();

    const row = {
      event_id: 'ev-1',
      delivery_id: delivery.deliveryId,
      status: 204,
      outcome: 'delivered',
      reason: 'ok',
      duration_ms: expect.any(Number),
    };
    expect(await attempts(webhookId)).toEqual([row]);
    expect(log.lines).toEqual([
      {
        message: 'Webhook delivered',
        logCode: 'WEBHOOK_ATTEMPTED',
        eventId: 'ev-1',
        webhookId,
        deliveryId: delivery.deliveryId,
        durationMs: expect.any(Number),
        status: 204,
        outcome: 'delivered',
        reason: 'ok',
        ageMs: expect.any(Number),
        retryInMs: undefined,
      },
    ]);
    const written = JSON.stringify(log.lines);
    for (const kept of [delivery.body, requests[0]?.headers['webhook-signature'], '/in', 'whsec_']) {
      expect(written).not.toContain(String(kept));
    }
  });

  it('is counted, with its age', async () => {
    const webhookId = await addWebhook(database.owner, organizationId, { url });
    await sendDelivery(webhookId);
    const { emitted } = await runBatch();
    const metric = JSON.parse(emitted.find((text) => text.includes('CloudWatchMetrics')) ?? '{}');
    expect(metric).toMatchObject({ Delivered: 1 });
    expect(metric.Age).toBeGreaterThanOrEqual(1_500);
  });

  it.each([
    [0, [2, 1]],
    [23.9, [2, 1]],
    [24.1, [2]],
  ])('is signed by both secrets for 24 h after a rotation: %d h after it, by %j', async (hours, versions) => {
    const webhookId = await addWebhook(database.owner, organizationId, { url });
    await rotate(webhookId, hours);
    await sendDelivery(webhookId);
    await runBatch();
    const { headers = {}, body = '' } = requests[0] ?? {};
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(versions.length);
    for (const version of versions) {
      new Webhook(await secret(webhookId, version)).verify(body, headers as Record<string, string>);
    }
  });

  it('goes to the present URL of the webhook', async () => {
    const webhookId = await addWebhook(database.owner, organizationId, { url: 'http://127.0.0.1:1/old' });
    await sendDelivery(webhookId);
    await database.owner.execute(sql`update webhooks set url = ${url} where webhook_id = ${webhookId}`);
    await runBatch();
    expect(requests).toHaveLength(1);
  });

  it('stops when the webhook is disabled or removed', async () => {
    const disabled = await addWebhook(database.owner, organizationId, { url });
    await disableWebhook(database.owner, disabled);
    await sendDelivery(disabled);
    await sendDelivery('wh-aaaaa-bbbbb-removed0000000');
    expect(await runBatch()).toMatchObject({ received: 2, kept: 0 });
    expect(requests).toEqual([]);
    expect(await attempts(disabled)).toEqual([]);
    expect(log.lines.map(({ reason }) => reason).sort()).toEqual(['webhook_disabled', 'webhook_removed']);
  });
});

describe('a failing delivery', () => {
  let webhookId: string;
  beforeEach(async () => {
    webhookId = await addWebhook(database.owner, organizationId, { url });
    answer = { status: 503 };
  });

  it('is recorded and hidden until its next attempt', async () => {
    await sendDelivery(webhookId);
    expect(await runBatch()).toMatchObject({ kept: 1 });
    expect(await deliveries.count()).toEqual(hidden);
    expect(await attempts(webhookId)).toMatchObject([
      { status: 503, outcome: 'failed', reason: 'server_error' },
    ]);
    expect(log.lines).toMatchObject([{ outcome: 'failed', retryInMs: 5_000 }]);
  });

  it('keeps its id and gets a new timestamp and signature when it is tried again', async () => {
    const short = { ...retrySchedule, minDelay: 1_000 };
    await sendDelivery(webhookId);
    await runBatch({ ports: { schedule: short } });
    await sleep(1_100);
    answer = { status: 200 };
    expect(await runBatch()).toMatchObject({ received: 1, kept: 0 });

    const [first, second] = requests.map(({ headers }) => headers);
    expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
    expect(second?.['webhook-timestamp']).not.toBe(first?.['webhook-timestamp']);
    expect(await attempts(webhookId)).toMatchObject([{ outcome: 'failed' }, { outcome: 'delivered' }]);
  });

  it('waits as a delayed copy when the wait is long, which does not count as in flight', async () => {
    await sendDelivery(webhookId, { startedAt: Date.now() - 2 * hour });
    expect(await runBatch()).toMatchObject({ kept: 0 });
    expect(await deliveries.count()).toEqual(delayed);
  });

  it('keeps its age in the copy, and is not tried before its time', async () => {
    const startedAt = Date.now() - 2 * hour;
    await sendDelivery(webhookId, { startedAt, notBefore: Date.now() + 3_000 });
    expect(await runBatch()).toMatchObject({ received: 1, kept: 1 });
    expect(requests).toEqual([]);
    expect(await attempts(webhookId)).toEqual([]);

    now = () => Date.now() + 10_000;
    await sendDelivery(webhookId, { startedAt, notBefore: Date.now() + 3_000 });
    await runBatch();
    expect(requests).toHaveLength(1);
    expect(Number(log.lines.at(-1)?.retryInMs)).toBeGreaterThanOrEqual(2 * hour);
  });

  it('honours Retry-After', async () => {
    answer = { status: 429, headers: { 'retry-after': '60' } };
    await sendDelivery(webhookId);
    await runBatch();
    expect(log.lines).toMatchObject([{ reason: 'too_many_requests', retryInMs: 60_000 }]);
  });

  it('is given up at 72 h: it lies in the dead-letter queue with the reason, ready to begin anew', async () => {
    const delivery = await sendDelivery(webhookId, { startedAt: Date.now() - 72 * hour, notBefore: 1 });
    const { emitted } = await runBatch();
    expect(emitted.join()).toContain('"GivenUp":1');
    expect(await deliveries.count()).toEqual(emptied);

    const [dead] = await deadLetters.receive();
    expect(dead?.messageAttributes.Reason?.stringValue).toBe('server_error');
    const { startedAt: _, notBefore: __, ...rest } = delivery;
    expect(JSON.parse(dead?.body ?? '')).toEqual(rest);
    expect(await attempts(webhookId)).toMatchObject([{ outcome: 'given_up', reason: 'server_error' }]);
  });

  it('waits its whole time, to the second: it is not tried in a hurry before it is given up', async () => {
    const startedAt = Date.now();
    now = () => startedAt + 72 * hour - 300;
    await sendDelivery(webhookId, { startedAt });
    await runBatch();
    expect(log.lines).toMatchObject([{ outcome: 'failed', retryInMs: 300 }]);
    expect(await deliveries.count()).toEqual(hidden);
    expect(await runBatch()).toMatchObject({ received: 0 });
  });

  it('rests without an attempt while its receiver is silent, and gets its last attempt all the same', async () => {
    const silent = rememberSilentReceivers();
    for (const _ of [1, 2]) silent.note(webhookId, { answered: false, reason: 'timeout' }, Date.now());
    await sendDelivery(webhookId);
    expect(await runBatch({ ports: { silent } })).toMatchObject({ kept: 1 });
    expect(await deliveries.count()).toEqual(hidden);
    expect(requests).toEqual([]);
    expect(await attempts(webhookId)).toEqual([]);
    expect(log.lines).toMatchObject([{ logCode: 'WEBHOOK_DELIVERY_RESTS', retryInMs: 5_000 }]);

    await sendDelivery(webhookId, { startedAt: Date.now() - 72 * hour });
    await runBatch({ ports: { silent } });
    expect(await attempts(webhookId)).toMatchObject([{ outcome: 'given_up' }]);
  });

  it('does not follow a redirect', async () => {
    answer = { status: 307, headers: { location: url } };
    await sendDelivery(webhookId);
    expect(await runBatch()).toMatchObject({ kept: 1 });
    expect(requests).toHaveLength(1);
    expect(await attempts(webhookId)).toMatchObject([{ status: 307, reason: 'redirect_not_followed' }]);
  });

  it('is recorded without a status when there was no answer', async () => {
    const deaf = await addWebhook(database.owner, organizationId, { url: 'http://127.0.0.1:1/' });
    await sendDelivery(deaf);
    await runBatch();
    expect(await attempts(deaf)).toMatchObject([
      { status: null, outcome: 'failed', reason: 'connection_refused' },
    ]);
  });

  it('is recorded when the URL is one that is not dialled', async () => {
    const inside = await addWebhook(database.owner, organizationId, {
      url: 'https://169.254.169.254/latest/',
    });
    await sendDelivery(inside);
    await runBatch();
    expect(await attempts(inside)).toMatchObject([{ status: null, reason: 'address_instead_of_name' }]);
  });
});

describe('410', () => {
  const state = async (webhookId: string) => {
    const rows = await database.owner.execute(
      sql`select enabled, disabled_reason from webhooks where webhook_id = ${webhookId}`,
    );
    return rows.ok ? rows.value[0] : undefined;
  };

  it('disables the webhook, whose other deliveries stop', async () => {
    const webhookId = await addWebhook(database.owner, organizationId, { url });
    answer = { status: 410 };
    await sendDelivery(webhookId);
    expect(await runBatch()).toMatchObject({ kept: 0 });
    expect(await state(webhookId)).toEqual({ enabled: false, disabled_reason: 'gone' });
    expect(await attempts(webhookId)).toMatchObject([{ status: 410, outcome: 'disabled', reason: 'gone' }]);

    await sendDelivery(webhookId, { eventId: 'ev-2' });
    await runBatch();
    expect(requests).toHaveLength(1);
  });

  it('of a URL that the webhook no longer has disables nothing', async () => {
    const webhookId = await addWebhook(database.owner, organizationId, { url });
    await webhooks.disable(webhookId, 'https://old.example.com/', 'gone');
    expect(await state(webhookId)).toEqual({ enabled: true, disabled_reason: null });
  });
});

describe('our own faults', () => {
  let webhookId: string;
  const unavailable = async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
  beforeEach(async () => {
    webhookId = await addWebhook(database.owner, organizationId, { url });
    await sendDelivery(webhookId);
  });

  it('leave the receiver alone while the database is away: the message waits, and no attempt is counted', async () => {
    expect(await runBatch({ ports: { webhooks: { ...webhooks, find: unavailable } } })).toMatchObject({
      kept: 1,
    });
    expect(requests).toEqual([]);
    expect(await attempts(webhookId)).toEqual([]);
    expect(await deliveries.count()).toEqual(hidden);
    expect(log.lines).toMatchObject([{ logCode: 'WEBHOOK_DELIVERY_WAITS', cause: 'database_unavailable' }]);
  });

  it('leave the receiver alone while KMS is away', async () => {
    mac.failing = true;
    expect(await runBatch()).toMatchObject({ kept: 1 });
    expect(requests).toEqual([]);
    expect(await attempts(webhookId)).toEqual([]);
    expect(log.lines).toMatchObject([{ cause: 'secret_unavailable', reason: 'KMSInvalidStateException' }]);
  });

  it('do not make a delivery happen twice because its row could not be written', async () => {
    expect(await runBatch({ ports: { webhooks: { ...webhooks, record: unavailable } } })).toMatchObject({
      kept: 0,
    });
    expect(requests).toHaveLength(1);
    expect(log.lines).toMatchObject([
      { logCode: 'WEBHOOK_ATTEMPTED' },
      { logCode: 'WEBHOOK_ATTEMPT_NOT_RECORDED' },
    ]);
  });

  it('keep a message whose webhook could not be disabled', async () => {
    answer = { status: 410 };
    expect(await runBatch({ ports: { webhooks: { ...webhooks, disable: unavailable } } })).toMatchObject({
      kept: 1,
    });
  });

  it('keep what could not be set aside', async () => {
    await sendDelivery(webhookId, { startedAt: Date.now() - 100 * hour });
    answer = { status: 500 };
    expect(await runBatch({ deadLetters: gone })).toMatchObject({ received: 2, kept: 2 });
  });

  it('of one delivery leave the others of the batch alone', async () => {
    await sendDelivery(await addWebhook(database.owner, organizationId, { url }));
    const find: Webhooks['find'] = (id) =>
      id === webhookId ? Promise.reject(new Error('bug')) : webhooks.find(id);
    expect(await runBatch({ ports: { webhooks: { ...webhooks, find } } })).toMatchObject({
      received: 2,
      kept: 1,
    });
    expect(requests).toHaveLength(1);
  });
});

it('sets aside a message that is no delivery, with the reason: it cannot loop', async () => {
  await deliveries.send('poison');
  await deliveries.send('{"webhookId":"wh-1"}');
  expect(await runBatch()).toMatchObject({ received: 2, kept: 0 });
  const dead = await deadLetters.receive();
  expect(dead.map(({ body, messageAttributes }) => [body, messageAttributes.Reason?.stringValue])).toEqual([
    ['poison', 'The message is not JSON.'],
    ['{"webhookId":"wh-1"}', 'The message is not a delivery.'],
  ]);
});
