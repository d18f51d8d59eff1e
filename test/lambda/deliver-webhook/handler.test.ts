import { createHash } from 'node:crypto';
import {
  type Delivery,
  deliveryId,
  parseDelivery,
  retrySchedule,
  writeDelivery,
} from '../../../domain/delivery';
import { longestProbeAge, probe } from '../../../domain/probe';
import { fail, ok } from '../../../domain/result';
import { secretMessage, secretText } from '../../../domain/signature';
import { createHandler, createMetrics } from '../../../lambda/deliver-webhook/handler';
import type { DeliveryPorts, Receivers, Webhooks } from '../../../lambda/deliver-webhook/ports';
import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { expectDocumentedDelivery } from '../../support/openapi';
import { useShared } from '../../support/use-shared';
import { startWebhookReceiver, verifyDelivery } from '../../support/webhook-receiver';
import { disableWebhook, eventText } from '../../support/webhooks';
import { hidden, missing, usePipeline } from '../pipeline';

const world = usePipeline();
const receiver = useShared(startWebhookReceiver);
let webhooks: Webhooks;
let webhookId: string;
let path: string;

beforeAll(() => {
  webhooks = createWebhooks(world.database.as('deliver_webhook'));
});
beforeEach(async () => {
  path = `in?of=${world.organizationId}`;
  webhookId = await world.addWebhook({ url: receiver.url(path) });
});

const requests = () => receiver.received(path, 0);
const secretOf = (id: string, version: number) =>
  createHash('sha256').update(secretMessage(id, version)).digest();

async function send(change: Partial<Delivery> = {}, queue = world.deliveries): Promise<Delivery> {
  const { eventId = 'ev-1' } = change;
  const ids = { deliveryId: deliveryId(eventId, webhookId), webhookId, eventId };
  const event = { acceptedAt: Date.now() - 1_500, body: eventText(world.organizationId, eventId) };
  const delivery = { ...ids, ...event, ...change };
  await queue.send(writeDelivery(delivery));
  return delivery;
}

async function run(ports: Partial<DeliveryPorts> = {}, from = world.deliveries, retry = world.retries.url) {
  const metrics = createMetrics('test');
  let emitted: Record<string, unknown> = {};
  metrics.publishStoredMetrics = () => {
    emitted = { ...metrics.serializeMetrics() };
    return metrics;
  };
  const handler = createHandler({
    ports: {
      webhooks,
      events: world.queue(world.events.url),
      secrets: { secret: async (id, version) => ok(secretOf(id, version)) },
      receivers: createReceivers({ allowLocal: true }),
      log: world.log,
      metrics,
      now: Date.now,
      random: () => 0.5,
      newToken: () => 'token',
      schedule: retrySchedule,
      ...ports,
    },
    queues: { ...world.queues(), retry: world.queue(retry) },
    retryQueueUrl: world.retries.url,
    deadLetters: world.queue(world.deadLetters.url),
    metrics,
  });
  const consumed = await world.consume(from, handler);
  return { ...consumed, emitted };
}

const unavailable = async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
const noSecret = async () => fail({ kind: 'secret_unavailable', reason: 'timeout' } as const);
const bug = () => Promise.reject(new Error('bug'));
const attempts = () =>
  world.database.query`
    select event_id, delivery_id, series, status, outcome, reason, duration_ms,
      (extract(epoch from attempted_at) * 1000)::float8 as attempted_at,
      (extract(epoch from next_attempt_at) * 1000)::float8 as next_attempt_at
    from webhook_attempts where webhook_id = ${webhookId} order by webhook_attempt_id`;
const markUnhealthy = (ago: string) =>
  world.database.query`
    update webhooks set unhealthy_at = now() + ${ago}::interval where webhook_id = ${webhookId}`;
const stored = async () => {
  const known = await webhooks.find({ webhookId, deliveryId: '' });
  return known.ok ? known.value.webhook : undefined;
};
const retried = () => world.retries.sent().map(({ body, ...sent }) => ({ ...sent, ...parseDelivery(body) }));

it('a delivery posts the unchanged event, signed, and adds a row, a log line and metrics, without URL, body or signature', async () => {
  const { deliveryId, body } = await send();
  const { emitted, failed } = await run();

  expect([failed, await world.deliveries.count()]).toEqual([0, hidden(0)]);
  const [request, ...more] = await requests();
  expect([request?.body, request?.headers['accept-encoding'], more]).toEqual([body, 'identity', []]);
  expectDocumentedDelivery(request?.headers ?? {}, body);
  const outcome = { status: 204, outcome: 'delivered', reason: 'ok' };
  const row = { event_id: 'ev-1', delivery_id: deliveryId, ...outcome, next_attempt_at: null };
  expect(await attempts()).toMatchObject([row]);
  const [durationMs, ageMs] = [expect.any(Number), expect.any(Number)];
  const line = { eventId: 'ev-1', webhookId, deliveryId, attempt: 1, durationMs, ...outcome, ageMs };
  const said = { message: 'Webhook delivered', logCode: 'WEBHOOK_ATTEMPTED' };
  expect(world.log.lines).toEqual([{ ...said, ...line, retryInMs: undefined }]);
  expect(emitted).toMatchObject({
    Delivered: 1,
    service: 'deliver-webhook',
    environment: 'test',
    // Alarms match the exact set.
    _aws: { CloudWatchMetrics: [{ Dimensions: [['service', 'environment']] }] },
  });
  expect(emitted.Age).toBeGreaterThanOrEqual(1_500);
});

it.each([
  [23.9, [2, 1]],
  [24.1, [2]],
])('a delivery %d h after a rotation is signed with the secrets %j', async (hours, versions) => {
  await world.database.query`
    update webhooks
    set secret_version = 2, rotated_at = now() - make_interval(secs => ${hours * 3_600}::float8)
    where webhook_id = ${webhookId}`;
  await send();
  await run();
  for (const delivery of await receiver.received(path, 1)) {
    expect(String(delivery.headers['webhook-signature']).split(' ')).toHaveLength(versions.length);
    for (const version of versions)
      verifyDelivery(delivery, secretText(secretOf(webhookId, version)), 'webhook-signature');
  }
});

it('a successor that could not be sent is sent later, even of a webhook that was disabled meanwhile', async () => {
  receiver.answer(path, 503);
  await send();
  const now = Date.now();
  expect(await run({ now: () => now }, world.deliveries, missing)).toMatchObject({ failed: 1 });
  await disableWebhook(world.database.owner, webhookId);
  await send({}, world.retries);
  await run({ now: () => now }, world.retries);
  await send({}, world.retries);
  await run({ now: () => now + 600_000 }, world.retries);
  // 4.5 s by the row, and one to two minutes; or these after now.
  const next = { number: 2, attempt: 2 };
  expect(retried()).toMatchObject([
    { value: { ...next, notBefore: now + 94_500 } },
    { value: { ...next, notBefore: now + 690_000 } },
  ]);
  expect(await requests()).toHaveLength(1);
});

it('a delivery whose attempt is not recorded is not repeated', async () => {
  await send();
  expect(await run({ webhooks: { ...webhooks, record: bug } })).toMatchObject({ failed: 0 });
  expect(await requests()).toHaveLength(1);
  expect(world.log.lines).toMatchObject([{}, { logCode: 'WEBHOOK_ATTEMPT_NOT_RECORDED' }]);
});

it('410 disables the webhook, and each that finds it sends the same event, without the URL', async () => {
  receiver.answer(path, 410);
  for (const eventId of ['ev-1', 'ev-2']) await send({ eventId });
  expect(await run()).toMatchObject({ failed: 0, emitted: { Disabled: 1 } });
  expect(await stored()).toMatchObject({ enabled: false, unhealthy: false });
  const attempt = { status: 410, outcome: 'disabled', reason: 'gone' };
  expect(await attempts()).toMatchObject([attempt, attempt]);
  const events = world.events.sent().map(({ body }) => JSON.parse(body));
  const { organizationId } = world;
  const data = { webhookId, reason: 'gone' };
  expect(events).toMatchObject([{ organizationId, kind: 'webhook.disabled' }, events[0]]);
  expect(events[0].data).toEqual(data);
  const line = { logCode: 'WEBHOOK_DISABLED', organizationId, ...data, eventId: events[0].id };
  expect(world.log.lines).toContainEqual({ message: 'Webhook disabled', ...line });
});

it('a 410 of a URL that was replaced meanwhile disables nothing, and the delivery waits', async () => {
  receiver.answer(path, 410);
  const { post } = createReceivers({ allowLocal: true });
  await send();
  const move: Receivers['post'] = async (request) => {
    const answer = await post(request);
    await world.database.query`
      update webhooks set url = 'https://new.example.com/' where webhook_id = ${webhookId}`;
    return answer;
  };
  expect(await run({ receivers: { post: move } })).toMatchObject({ failed: 1, emitted: {} });
  const line = { logCode: 'WEBHOOK_DELIVERY_WAITS', reason: 'another URL' };
  expect(world.log.lines.at(-1)).toMatchObject(line);
  expect([await attempts(), await stored()]).toMatchObject([[], { enabled: true }]);
  expect(world.deliveries.visibilityTimeouts()).toEqual([60]);
});

describe('a failing delivery', () => {
  beforeEach(() => receiver.answer(path, 503));

  it('is recorded and retried from the retry queue, with the number and time of the next attempt', async () => {
    const delivery = await send({ series: 'own', number: 1 });
    const now = Date.now();
    const { failed, emitted } = await run({ now: () => now });
    expect([failed, emitted.Failed, emitted.Age]).toEqual([0, 1, undefined]);
    const times = { attempted_at: now, next_attempt_at: now + 4_500 };
    const outcome = { status: 503, outcome: 'failed', reason: 'server_error' };
    expect(await attempts()).toMatchObject([{ series: 'own', ...outcome, ...times }]);
    const line = { series: 'own', outcome: 'failed', attempt: 1, retryInMs: 4_500 };
    expect(world.log.lines).toMatchObject([line]);
    const value = { ...delivery, number: 2, copy: 'token', attempt: 2, notBefore: now + 4_500 };
    expect(retried()).toEqual([{ group: webhookId, delaySeconds: 5, ok: true, value }]);
    expect(await stored()).toMatchObject({ unhealthy: true });
  });

  it('of which two copies make a request together is retried once, and the other copy is judged again', async () => {
    for (const copy of ['one', 'other']) await send({ copy, paused: 1_000 });
    expect(await run()).toMatchObject({ received: 2, failed: 1, emitted: { Failed: 1 } });
    const value = expect.not.objectContaining({ paused: 1_000 });
    expect(retried()).toEqual([expect.objectContaining({ delaySeconds: 4, value })]);
    expect([await requests(), await attempts()]).toMatchObject([[{}, {}], [{}]]);
    expect(world.deliveries.visibilityTimeouts()).toEqual([60]);
  });

  it('is abandoned and counted after the last attempt, and its webhook stays enabled', async () => {
    await send({ attempt: retrySchedule.length }, world.retries);
    expect(await run({}, world.retries)).toMatchObject({ emitted: { GivenUp: 1 } });
    expect([await world.retries.count(), await world.deadLetters.count()]).toEqual([hidden(0), hidden(0)]);
    expect(await attempts()).toMatchObject([{ outcome: 'given_up', reason: 'server_error' }]);
    expect(await stored()).toMatchObject({ enabled: true });
  });

  it('of the probe ends within two minutes, and no attempt of it counts in a metric', async () => {
    const { webhookId } = probe;
    await world.database.query`
      insert into webhooks (webhook_id, organization_id, url)
      values (${webhookId}, ${world.organizationId}, ${receiver.url(path)})`;
    const last = retrySchedule.findIndex((time) => time > longestProbeAge);
    for (const attempt of [last - 1, last]) {
      await send({ webhookId, attempt }, world.retries);
      expect((await run({}, world.retries)).emitted).toEqual({});
    }
    expect(retried()).toMatchObject([{ value: { attempt: last } }]);
    expect(world.log.lines).toMatchObject([{ outcome: 'failed' }, { outcome: 'given_up' }]);
  });
});

it('a receiver that responds after 3 s is sent the delivery again in the retry queue, 15 s after the first attempt began, with its number', async () => {
  const began = Date.now();
  const notBefore = began + 15_000;
  let time = began;
  /** Less than two seconds by this clock: timers and clocks differ. */
  const limited = 1_999;
  const post: Receivers['post'] = async ({ limit }) => {
    time += limit === undefined ? 3_000 : limited;
    return limit === undefined ? { answered: true, status: 200 } : { answered: false, reason: 'slow' };
  };
  const ports = { receivers: { post }, now: () => time };
  const delivery = await send();
  // Charged to nobody.
  expect((await run(ports)).emitted).not.toHaveProperty('Failed');
  const slow = { outcome: 'failed', reason: 'slow', status: null, duration_ms: limited };
  expect(await attempts()).toMatchObject([{ ...slow, next_attempt_at: notBefore }]);
  const value = { ...delivery, number: 2, copy: 'token', attempt: 1, notBefore };
  expect(retried()).toEqual([{ group: webhookId, delaySeconds: 14, ok: true, value }]);

  await markUnhealthy('-31 s');
  time = notBefore;
  await world.retries.send(writeDelivery(value));
  await run(ports, world.retries);
  expect(await attempts()).toMatchObject([slow, { outcome: 'delivered', duration_ms: 3_000 }]);
  expect(await stored()).toMatchObject({ unhealthy: true });
  // Not earlier while the retry queue is unavailable.
  await world.database.query`update webhooks set unhealthy_at = null where webhook_id = ${webhookId}`;
  time = began;
  await send({ eventId: 'ev-2' });
  await run(ports, world.deliveries, missing);
  expect(world.deliveries.visibilityTimeouts()).toEqual([14]);
});

it('an unhealthy webhook gets its deliveries from the retry queue', async () => {
  await markUnhealthy('-31 s');
  const value = await send();
  await run();
  expect(await requests()).toEqual([]);
  expect(retried()).toEqual([{ group: webhookId, delaySeconds: 0, ok: true, value }]);
  await run({}, world.retries);
  expect(await requests()).toHaveLength(1);
  expect(await stored()).toMatchObject({ unhealthy: false });
});

describe('a paused webhook', () => {
  const pause = (end = '2036-01-01') =>
    world.database.query`
      update webhooks
      set paused_until = ${end}::timestamptz, pause_reason = 'no_response', pause_seconds = 60, unhealthy_at = null
      where webhook_id = ${webhookId}`;
  const until = Date.UTC(2036, 0, 1);
  const now = () => until - 60_000;

  it('has a trial after its pause, from the retry queue, whose result replaces the claim, and is told', async () => {
    await pause('now');
    const post: Receivers['post'] = async () => {
      expect((await stored())?.pause?.until).toBeGreaterThan(Date.now() + 20_000);
      return { answered: true, status: 429, retryAfter: '3600' };
    };
    await send();
    await run();
    expect(retried()).toMatchObject([{ delaySeconds: 0 }]);
    const { emitted } = await run({ receivers: { post } }, world.retries);
    expect(emitted).toMatchObject({ Failed: 1, Paused: 1 });
    const line = { logCode: 'WEBHOOK_PAUSED', webhookId, reason: 'retry_after', seconds: 900 };
    expect(world.log.lines[1]).toMatchObject(line);
    expect(retried()).toMatchObject([{}, { value: { attempt: 11 } }]);
    expect(await stored()).toMatchObject({ pause: { reason: 'retry_after', length: 900_000 } });
  });

  it('has no trial that makes no request: a repeat of a finished delivery gives it back', async () => {
    await send();
    await run();
    await pause('now');
    for (const eventId of ['ev-1', 'ev-2']) {
      await send({ eventId }, world.retries);
      await run({}, world.retries);
    }
    expect(await requests()).toHaveLength(2);
    expect(await stored()).not.toHaveProperty('pause');
  });

  it('gives a delivery up that no attempt is left for, and says so', async () => {
    await pause();
    for (const copy of ['one', 'other']) await send({ copy, attempt: retrySchedule.length }, world.retries);
    expect(await run({ now }, world.retries)).toMatchObject({ failed: 0, emitted: { GivenUp: 1 } });
    expect(await attempts()).toMatchObject([{ outcome: 'given_up', reason: 'paused', status: null }]);
    expect([await requests(), retried()]).toEqual([[], []]);
    expect(world.log.lines).toMatchObject([{ logCode: 'WEBHOOK_DELIVERY_STOPPED', reason: 'paused' }]);
  });

  it('is looked at by what waits for it: when it has ended, a delivery leaves between then and its time', async () => {
    const waiting = { attempt: 8, paused: 400_000, notBefore: until + 30_000 };
    const look = async () => {
      await send(waiting, world.retries);
      await run({ now: () => until - 1_000_000 }, world.retries);
      return Object(retried().at(-1)).value;
    };
    await pause();
    expect(await look()).toMatchObject(waiting);
    await world.database.query`
      update webhooks set paused_until = null, pause_reason = null, pause_seconds = null where webhook_id = ${webhookId}`;
    // 515 s earlier: what is in the schedule meanwhile is not skipped.
    expect(await look()).toMatchObject({ attempt: 7, paused: 205_000, notBefore: until - 485_000 });
    await disableWebhook(world.database.owner, webhookId);
    expect(await look()).toMatchObject(waiting);
    expect([await requests(), await attempts()]).toEqual([[], []]);
  });
});

it.each<[string, () => Partial<DeliveryPorts>]>([
  ['database_unavailable', () => ({ webhooks: createWebhooks({ execute: unavailable }) })],
  ['secret_unavailable', () => ({ secrets: { secret: noSecret } })],
  ['internal_error', () => ({ webhooks: { ...webhooks, find: bug } })],
])('our own failure is not an attempt: the message stays on its queue after %s', async (cause, ports) => {
  await send();
  expect(await run(ports())).toMatchObject({ failed: 1 });
  expect([await requests(), await attempts(), await world.deliveries.count()]).toEqual([[], [], hidden(1)]);
  expect(world.deliveries.visibilityTimeouts()).toEqual([5]);
  expect(world.log.lines).toMatchObject([{ logCode: 'WEBHOOK_DELIVERY_WAITS', cause }]);
});
