import { Webhook } from 'standardwebhooks';
import { parseDelivery, writeDelivery } from '../../../domain/delivery';
import { parseEvent } from '../../../domain/event';
import { fail } from '../../../domain/result';
import type { DeliveryPorts, Receivers, Webhooks } from '../../../lambda/deliver-webhook/deliver-webhook';
import { retrySchedule } from '../../../lambda/deliver-webhook/retry-schedule';
import { expectDocumentedDelivery } from '../../support/openapi';
import { disableWebhook } from '../../support/webhooks';
import { emptied, hidden, useDeliveryWorld } from './delivery-world';

const world = useDeliveryWorld();
let webhookId: string;
beforeEach(async () => {
  webhookId = await world.addWebhook();
});

const unavailable = async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
const missingQueue = 'http://127.0.0.1:1/000000000000/missing';
const found = async () => {
  const webhook = await world.webhooks.find(webhookId);
  return webhook.ok ? webhook.value : webhook.error;
};
/** The deliveries that were sent to the second lane. */
const retried = () => world.retries.sent().map(({ body, ...sent }) => ({ ...sent, ...parseDelivery(body) }));

describe('a delivery', () => {
  it('is a signed POST of the unchanged event, under both signature names', async () => {
    const delivery = await world.sendDelivery(webhookId);
    expect(await world.runBatch()).toMatchObject({ received: 1, failed: 0 });

    const [request, ...others] = world.requests;
    expect(others).toEqual([]);
    expect(request).toMatchObject({ path: '/in?a=1', body: delivery.body });
    expect(request?.headers).toMatchObject({
      'accept-encoding': 'identity',
      'webhook-id': delivery.deliveryId,
    });
    expectDocumentedDelivery(request?.headers ?? {}, request?.body ?? '');
    const verified = new Webhook(await world.secret(webhookId, 1)).verify(
      request?.body ?? '',
      request?.headers as Record<string, string>,
    );
    expect(verified).toEqual(JSON.parse(delivery.body));
    expect(await world.deliveries.count()).toEqual(emptied);
  });

  it('writes one row, one log line and two metrics, without URL, body, signature or secret', async () => {
    const { deliveryId } = await world.sendDelivery(webhookId);
    const { emitted } = await world.runBatch();

    const outcome = { status: 204, outcome: 'delivered', reason: 'ok' };
    expect(await world.attempts(webhookId)).toEqual([
      { event_id: 'ev-1', delivery_id: deliveryId, ...outcome, duration_ms: expect.any(Number) },
    ]);
    expect(world.log.lines).toEqual([
      {
        message: 'Webhook delivered',
        logCode: 'WEBHOOK_ATTEMPTED',
        eventId: 'ev-1',
        webhookId,
        deliveryId,
        attempt: 1,
        durationMs: expect.any(Number),
        ...outcome,
        ageMs: expect.any(Number),
        retryInMs: undefined,
      },
    ]);
    expect(emitted).toMatchObject({ Delivered: 1 });
    expect(emitted.Age).toBeGreaterThanOrEqual(1_500);
  });

  it.each([
    [0, [2, 1]],
    [23.9, [2, 1]],
    [24.1, [2]],
  ])('%d h after a rotation is signed with the secrets %j', async (hours, versions) => {
    await world.database.query`
      update webhooks
      set secret_version = 2, rotated_at = now() - make_interval(secs => ${hours * 3_600}::float8)
      where webhook_id = ${webhookId}`;
    await world.sendDelivery(webhookId);
    await world.runBatch();
    const { headers = {}, body = '' } = world.requests[0] ?? {};
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(versions.length);
    for (const version of versions) {
      new Webhook(await world.secret(webhookId, version)).verify(body, headers as Record<string, string>);
    }
  });

  it('stops when the webhook is disabled or removed', async () => {
    await disableWebhook(world.database.owner, webhookId);
    await world.sendDelivery(webhookId);
    await world.sendDelivery('wh-aaaaa-bbbbb-removed0000000');
    expect(await world.runBatch()).toMatchObject({ received: 2, failed: 0 });
    expect(world.requests).toEqual([]);
    expect(await world.attempts(webhookId)).toEqual([]);
    expect(world.log.lines.map(({ reason }) => reason).sort()).toEqual([
      'webhook_disabled',
      'webhook_removed',
    ]);
  });
});

describe('410', () => {
  beforeEach(async () => {
    world.status = 410;
    await world.sendDelivery(webhookId);
  });

  it('disables the webhook and sends one event about it, without the URL', async () => {
    await world.sendDelivery(webhookId, { eventId: 'ev-2' });
    const { failed, emitted } = await world.runBatch();
    expect(failed).toBe(0);
    expect(await found()).toMatchObject({ enabled: false });
    const [message, ...others] = await world.events.receive();
    expect(others).toEqual([]);
    const { organizationId } = world;
    expect(parseEvent(message?.body ?? '')).toMatchObject({
      ok: true,
      value: { organizationId, kind: 'webhook.disabled' },
    });
    const { id: eventId, data } = JSON.parse(message?.body ?? '');
    expect(data).toEqual({ webhookId, reason: 'gone' });
    const line = { logCode: 'WEBHOOK_DISABLED', webhookId, organizationId, reason: 'gone', eventId };
    expect(world.log.lines).toContainEqual({ message: 'Webhook disabled', ...line });
    expect(emitted).toMatchObject({ Disabled: 1 });
    const attempt = { status: 410, outcome: 'disabled', reason: 'gone' };
    expect(await world.attempts(webhookId)).toMatchObject([attempt, attempt]);
  });

  it('from a former URL of the webhook does not disable it', async () => {
    await world.webhooks.disable(webhookId, 'https://old.example.com/', 'gone');
    expect(await found()).toMatchObject({ enabled: true });
  });

  it('disables the webhook even if the event is not sent', async () => {
    const send = async () => fail({ kind: 'queue_unavailable', reason: 'x' } as const);
    expect(await world.runBatch({ ports: { events: { send } } })).toMatchObject({ failed: 0 });
    expect(await found()).toMatchObject({ enabled: false });
    expect(world.log.lines.at(-1)).toMatchObject({ logCode: 'WEBHOOK_DISABLED', cause: 'queue_unavailable' });
  });

  it('disables the webhook even if the attempt is not recorded', async () => {
    await world.database.query`revoke insert on webhook_attempts from deliver_webhook`;
    expect(await world.runBatch()).toMatchObject({ failed: 0 });
    await world.database.query`grant insert on webhook_attempts to deliver_webhook`;
    expect(await found()).toMatchObject({ enabled: false });
  });

  it('stays on the queue while the webhook cannot be disabled', async () => {
    const webhooks = { ...world.webhooks, disable: unavailable };
    expect(await world.runBatch({ ports: { webhooks } })).toMatchObject({ failed: 1 });
  });
});

describe('a failing delivery', () => {
  beforeEach(() => {
    world.status = 503;
  });

  it('is recorded and retried in the second lane, with the number and time of the next attempt', async () => {
    const delivery = await world.sendDelivery(webhookId);
    expect(await world.runBatch()).toMatchObject({ failed: 0 });
    expect(await world.attempts(webhookId)).toMatchObject([
      { status: 503, outcome: 'failed', reason: 'server_error' },
    ]);
    expect(world.log.lines).toMatchObject([{ outcome: 'failed', attempt: 1, retryInMs: 4_500 }]);
    expect(await world.deliveries.count()).toEqual(emptied);
    const value = { ...delivery, attempt: 2, notBefore: expect.any(Number) };
    expect(retried()).toEqual([{ group: webhookId, delaySeconds: 5, ok: true, value }]);
  });

  it('that is received too early is delayed again, unchanged', async () => {
    const notBefore = Date.now() + 1_000_000;
    const value = await world.sendDelivery(webhookId, { attempt: 12, notBefore }, world.retries);
    expect(await world.runBatch({ from: world.retries })).toMatchObject({ received: 1, failed: 0 });
    expect(world.requests).toEqual([]);
    expect(retried()).toEqual([{ group: webhookId, delaySeconds: 900, ok: true, value }]);
  });

  it('is abandoned and counted after the last attempt, and its webhook stays enabled', async () => {
    await world.sendDelivery(webhookId, { attempt: retrySchedule.length }, world.retries);
    const { emitted } = await world.runBatch({ from: world.retries });
    expect(emitted).toMatchObject({ GivenUp: 1 });
    for (const queue of [world.retries, world.deadLetters]) expect(await queue.count()).toEqual(emptied);
    expect(await world.attempts(webhookId)).toMatchObject([{ outcome: 'given_up', reason: 'server_error' }]);
    expect(await found()).toMatchObject({ enabled: true });
  });

  it('stays hidden on its queue for its delay when the second lane is unavailable', async () => {
    await world.sendDelivery(webhookId, { attempt: 12 });
    expect(await world.runBatch({ second: missingQueue })).toMatchObject({ failed: 1 });
    expect(await world.deliveries.count()).toEqual(hidden);
    expect(world.deliveries.visibilityTimeouts()).toEqual([900]);
    expect(world.log.lines.at(-1)).toMatchObject({
      logCode: 'WEBHOOK_DELIVERY_WAITS',
      cause: 'queue_unavailable',
    });
  });

  it.each([
    ['http://127.0.0.1:1/', 'connection_refused'],
    ['https://169.254.169.254/latest/', 'address_instead_of_name'],
  ])('to %s is recorded as %s', async (url, reason) => {
    const other = await world.addWebhook(url);
    await world.sendDelivery(other);
    await world.runBatch();
    expect(await world.attempts(other)).toMatchObject([{ status: null, outcome: 'failed', reason }]);
  });
});

describe('the lane of a webhook', () => {
  const isUnhealthy = async () => ((await found()) as { unhealthy: boolean }).unhealthy;
  const deliver = async (from = world.retries, ports: Partial<DeliveryPorts> = {}) => {
    const delivery = await world.sendDelivery(webhookId, {}, from);
    expect(await world.runBatch({ from, ports })).toMatchObject({ failed: 0 });
    return delivery;
  };

  it('is the second for a new webhook, until an attempt succeeds', async () => {
    await world.database.query`update webhooks set unhealthy_at = default where webhook_id = ${webhookId}`;
    expect(await isUnhealthy()).toBe(true);
    await deliver();
    expect(await isUnhealthy()).toBe(false);
  });

  it('is the second after a failed attempt', async () => {
    world.status = 500;
    await deliver(world.deliveries);
    expect(await isUnhealthy()).toBe(true);
  });

  it('is the second after two seconds: the attempt is aborted and repeated there, without that limit', async () => {
    let time = Date.now();
    /** Responds after 3 s. */
    const post: Receivers['post'] = async ({ limit = 15_000 }) => {
      time += Math.min(limit, 3_000);
      return limit < 3_000 ? { answered: false, reason: 'timeout' } : { answered: true, status: 200 };
    };
    const slow = { receivers: { post }, now: () => time };
    const started = time;
    const value = await deliver(world.deliveries, slow);
    expect(time - started).toBe(2_000);
    expect(await isUnhealthy()).toBe(true);
    expect(await world.attempts(webhookId)).toEqual([]);
    expect(retried()).toEqual([{ group: webhookId, delaySeconds: 0, ok: true, value }]);

    await world.runBatch({ from: world.retries, ports: slow });
    expect(await world.attempts(webhookId)).toMatchObject([{ outcome: 'delivered', duration_ms: 3_000 }]);
    expect(await isUnhealthy()).toBe(true);
  });

  it.each([
    ['the first after a successful attempt', 31, 200, false],
    ['the second for half a minute after a slow attempt', 20, 200, true],
    ['the second while attempts fail', 31, 500, true],
  ])('is %s', async (_, secondsAgo, status, expected) => {
    await world.database.query`
      update webhooks set unhealthy_at = now() - make_interval(secs => ${secondsAgo}::float8)
      where webhook_id = ${webhookId}`;
    const value = await deliver(world.deliveries);
    expect(world.requests).toEqual([]);
    expect(retried()).toEqual([{ group: webhookId, delaySeconds: 0, ok: true, value }]);
    world.status = status;
    await world.runBatch({ from: world.retries });
    expect(world.requests).toHaveLength(1);
    expect(await isUnhealthy()).toBe(expected);
  });
});

describe('our own failures', () => {
  const runWith = (webhooks: Partial<Webhooks>) =>
    world.runBatch({ ports: { webhooks: { ...world.webhooks, ...webhooks } } });
  beforeEach(() => world.sendDelivery(webhookId));

  it.each<[string, () => ReturnType<typeof runWith>, Record<string, string>]>([
    ['the database is unavailable', () => runWith({ find: unavailable }), { cause: 'database_unavailable' }],
    [
      'KMS is unavailable',
      () => {
        world.kms.failing = true;
        return world.runBatch();
      },
      { cause: 'secret_unavailable', reason: 'KMSInvalidStateException' },
    ],
    [
      'a bug throws',
      () => runWith({ find: () => Promise.reject(new Error('bug')) }),
      { cause: 'internal_error' },
    ],
  ])('do not count as attempts: the message stays on the queue while %s', async (_, run, line) => {
    expect(await run()).toMatchObject({ failed: 1 });
    expect(world.requests).toEqual([]);
    expect(await world.attempts(webhookId)).toEqual([]);
    expect(await world.deliveries.count()).toEqual(hidden);
    expect(world.deliveries.visibilityTimeouts()).toEqual([5]);
    expect(world.log.lines).toMatchObject([{ logCode: 'WEBHOOK_DELIVERY_WAITS', ...line }]);
  });

  it('to record an attempt do not repeat the delivery', async () => {
    expect(await runWith({ record: unavailable })).toMatchObject({ failed: 0 });
    expect(world.requests).toHaveLength(1);
    expect(world.log.lines).toMatchObject([
      { logCode: 'WEBHOOK_ATTEMPTED' },
      { logCode: 'WEBHOOK_ATTEMPT_NOT_RECORDED' },
    ]);
  });

  it('in one delivery do not affect the rest of the batch', async () => {
    await world.sendDelivery(await world.addWebhook());
    const find: Webhooks['find'] = (id) =>
      id === webhookId ? Promise.reject(new Error('bug')) : world.webhooks.find(id);
    expect(await runWith({ find })).toMatchObject({ received: 2, failed: 1 });
    expect(world.requests).toHaveLength(1);
  });
});

it('sends an invalid message to the dead-letter queue with the reason, or leaves it where it is', async () => {
  const invalid = ['poison', writeDelivery(await world.sendDelivery(`${webhookId}\0`, {}, world.events))];
  for (const body of invalid) await world.deliveries.send(body);
  expect(await world.runBatch()).toMatchObject({ received: 2, failed: 0 });
  const dead = await world.deadLetters.receive();
  expect(dead.map(({ body, messageAttributes }) => [body, messageAttributes.Reason?.stringValue])).toEqual([
    [invalid[0], 'The message is not a JSON object.'],
    [invalid[1], '"webhookId" must be an id such as wh-xxxxx-xxxxx-xxxxxxxxxxxxxxxx.'],
  ]);
  await world.deliveries.send('poison');
  expect(await world.runBatch({ deadLetters: missingQueue })).toMatchObject({ received: 1, failed: 1 });
});
