import type { SQSRecord } from 'aws-lambda';
import { Webhook } from 'standardwebhooks';
import { parseDelivery } from '../../../domain/delivery';
import { parseEvent } from '../../../domain/event';
import { fail } from '../../../domain/result';
import { sql } from '../../../lambda/database/database';
import type { Webhooks } from '../../../lambda/deliver-webhook/deliver-webhook';
import { retrySchedule } from '../../../lambda/deliver-webhook/retry-schedule';
import { eventually } from '../../support/eventually';
import { startHttpServer } from '../../support/http-server';
import { expectDocumentedDelivery } from '../../support/openapi';
import { disableWebhook } from '../../support/webhooks';
import { delayed, emptied, hidden, useDeliveryWorld } from './delivery-world';

const world = useDeliveryWorld();
const away = async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
const gone = 'http://127.0.0.1:1/000000000000/gone';

describe('a delivery', () => {
  it('is a signed POST of the event as it came, under both signature names', async () => {
    const webhookId = await world.addWebhook();
    const delivery = await world.sendDelivery(webhookId);
    expect(await world.runBatch()).toMatchObject({ received: 1, kept: 0 });

    const [request, ...others] = world.requests;
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
    expectDocumentedDelivery(request?.headers ?? {}, request?.body ?? '');
    const verified = new Webhook(await world.secret(webhookId, 1)).verify(
      request?.body ?? '',
      request?.headers as Record<string, string>,
    );
    expect(verified).toEqual(JSON.parse(delivery.body));
    expect(await world.deliveries.count()).toEqual(emptied);
  });

  it('leaves one row and one line, with ids, status, duration and reason, and nothing else of it', async () => {
    const webhookId = await world.addWebhook();
    const delivery = await world.sendDelivery(webhookId);
    await world.runBatch();

    const row = {
      event_id: 'ev-1',
      delivery_id: delivery.deliveryId,
      status: 204,
      outcome: 'delivered',
      reason: 'ok',
      duration_ms: expect.any(Number),
    };
    expect(await world.attempts(webhookId)).toEqual([row]);
    expect(world.log.lines).toEqual([
      {
        message: 'Webhook delivered',
        logCode: 'WEBHOOK_ATTEMPTED',
        eventId: 'ev-1',
        webhookId,
        deliveryId: delivery.deliveryId,
        attempt: 1,
        durationMs: expect.any(Number),
        status: 204,
        outcome: 'delivered',
        reason: 'ok',
        ageMs: expect.any(Number),
        retryInMs: undefined,
      },
    ]);
    const written = JSON.stringify(world.log.lines);
    for (const kept of [delivery.body, world.requests[0]?.headers['webhook-signature'], '/in', 'whsec_']) {
      expect(written).not.toContain(String(kept));
    }
  });

  it('is counted, with its age', async () => {
    const webhookId = await world.addWebhook();
    await world.sendDelivery(webhookId);
    const { emitted } = await world.runBatch();
    const metric = JSON.parse(emitted.find((text) => text.includes('CloudWatchMetrics')) ?? '{}');
    expect(metric).toMatchObject({ Delivered: 1 });
    expect(metric.Age).toBeGreaterThanOrEqual(1_500);
  });

  it.each([
    [0, [2, 1]],
    [23.9, [2, 1]],
    [24.1, [2]],
  ])('is signed by both secrets for 24 h after a rotation: %d h after it, by %j', async (hours, versions) => {
    const webhookId = await world.addWebhook();
    await world.rotate(webhookId, hours);
    await world.sendDelivery(webhookId);
    await world.runBatch();
    const { headers = {}, body = '' } = world.requests[0] ?? {};
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(versions.length);
    for (const version of versions) {
      new Webhook(await world.secret(webhookId, version)).verify(body, headers as Record<string, string>);
    }
  });

  it('goes to the current URL of the webhook', async () => {
    const webhookId = await world.addWebhook('http://127.0.0.1:1/old');
    await world.sendDelivery(webhookId);
    await world.database.owner.execute(
      sql`update webhooks set url = ${world.url} where webhook_id = ${webhookId}`,
    );
    await world.runBatch();
    expect(world.requests).toHaveLength(1);
  });

  it('stops when the webhook is disabled or removed', async () => {
    const disabled = await world.addWebhook();
    await disableWebhook(world.database.owner, disabled);
    await world.sendDelivery(disabled);
    await world.sendDelivery('wh-aaaaa-bbbbb-removed0000000');
    expect(await world.runBatch()).toMatchObject({ received: 2, kept: 0 });
    expect(world.requests).toEqual([]);
    expect(await world.attempts(disabled)).toEqual([]);
    expect(world.log.lines.map(({ reason }) => reason).sort()).toEqual([
      'webhook_disabled',
      'webhook_removed',
    ]);
  });
});

describe('410', () => {
  let webhookId: string;
  beforeEach(async () => {
    webhookId = await world.addWebhook();
    world.answer = { status: 410 };
    await world.sendDelivery(webhookId);
  });
  const isEnabled = async () => (await world.webhooks.find(webhookId)) as { value: { enabled: boolean } };

  it('disables the webhook, whose other deliveries stop, and tells its organization once, without the URL', async () => {
    await world.sendDelivery(webhookId, { eventId: 'ev-2' });
    const { kept, emitted } = await world.runBatch();
    expect(kept).toBe(0);
    expect(await isEnabled()).toMatchObject({ value: { enabled: false } });
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
    expect(emitted.join()).toContain('"Disabled":1');
    expect(await world.attempts(webhookId)).toMatchObject([
      { status: 410, outcome: 'disabled', reason: 'gone' },
      { status: 410, outcome: 'disabled', reason: 'gone' },
    ]);

    await world.sendDelivery(webhookId, { eventId: 'ev-3' });
    await world.runBatch();
    expect(world.requests).toHaveLength(2);
  });

  it('of a URL that the webhook no longer has disables nothing', async () => {
    await world.webhooks.disable(webhookId, 'https://old.example.com/', 'gone');
    expect(await isEnabled()).toMatchObject({ value: { enabled: true } });
  });

  it('disables a webhook whose organization cannot be told', async () => {
    const send = async () => fail({ kind: 'queue_unavailable', reason: 'x' } as const);
    expect(await world.runBatch({ ports: { events: { send } } })).toMatchObject({ kept: 0 });
    expect(await isEnabled()).toMatchObject({ value: { enabled: false } });
    expect(world.log.lines.at(-1)).toMatchObject({ logCode: 'WEBHOOK_DISABLED', cause: 'queue_unavailable' });
  });

  it('stays on the queue when the webhook could not be disabled', async () => {
    const webhooks = { ...world.webhooks, disable: away };
    expect(await world.runBatch({ ports: { webhooks } })).toMatchObject({ kept: 1 });
  });
});

describe('a failing delivery', () => {
  let webhookId: string;
  beforeEach(async () => {
    webhookId = await world.addWebhook();
    world.answer = { status: 503 };
  });
  /** The message that a delay ends with. */
  const copy = async () => {
    let copies: SQSRecord[] = [];
    await eventually(async () => {
      copies = await world.retries.receive();
      return copies.length > 0;
    });
    return copies.map(({ body }) => parseDelivery(body));
  };

  it('is recorded, and takes the second lane when its next attempt is due, with its number', async () => {
    const delivery = await world.sendDelivery(webhookId);
    expect(await world.runBatch()).toMatchObject({ kept: 0 });
    expect(await world.attempts(webhookId)).toMatchObject([
      { status: 503, outcome: 'failed', reason: 'server_error' },
    ]);
    expect(world.log.lines).toMatchObject([{ outcome: 'failed', attempt: 1, retryInMs: 4_500 }]);
    expect(await world.deliveries.count()).toEqual(emptied);
    expect(await world.retries.count()).toEqual(delayed);
    expect(world.retries.groups()).toEqual([webhookId]);
    const notBefore = expect.any(Number);
    expect(await copy()).toEqual([{ ok: true, value: { ...delivery, attempt: 2, notBefore } }]);
  });

  it('is not tried before its time, and waits on as it is', async () => {
    const early = await world.sendDelivery(
      webhookId,
      { attempt: 12, notBefore: Date.now() + 2_000 },
      world.retries,
    );
    expect(await world.runBatch({ from: world.retries })).toMatchObject({ received: 1, kept: 0 });
    expect(world.requests).toEqual([]);
    expect(await copy()).toEqual([{ ok: true, value: early }]);
  });

  it('is given up after the last attempt of the schedule: it is counted, and its webhook stays enabled', async () => {
    await world.sendDelivery(webhookId, { attempt: retrySchedule.length }, world.retries);
    const { emitted } = await world.runBatch({ from: world.retries });
    expect(emitted.join()).toContain('"GivenUp":1');
    for (const queue of [world.retries, world.deadLetters]) expect(await queue.count()).toEqual(emptied);
    expect(await world.attempts(webhookId)).toMatchObject([{ outcome: 'given_up', reason: 'server_error' }]);
    expect(await world.webhooks.find(webhookId)).toMatchObject({ value: { enabled: true } });
  });

  it('stays on its queue, hidden for its delay, when its copy was not sent', async () => {
    await world.sendDelivery(webhookId, { attempt: 12 });
    expect(await world.runBatch({ second: gone })).toMatchObject({ kept: 1 });
    expect(await world.deliveries.count()).toEqual(hidden);
    expect(world.deliveries.waits()).toEqual([900]);
    expect(world.log.lines.at(-1)).toMatchObject({
      logCode: 'WEBHOOK_DELIVERY_WAITS',
      cause: 'queue_unavailable',
    });
  });

  it.each([
    ['without a status when there was no response', 'http://127.0.0.1:1/', 'connection_refused'],
    ['when the URL is refused', 'https://169.254.169.254/latest/', 'address_instead_of_name'],
  ])('is recorded %s', async (_, url, reason) => {
    const other = await world.addWebhook(url);
    await world.sendDelivery(other);
    await world.runBatch();
    expect(await world.attempts(other)).toMatchObject([{ status: null, outcome: 'failed', reason }]);
  });
});

describe('the lane of a webhook', () => {
  let webhookId: string;
  beforeEach(async () => {
    webhookId = await world.addWebhook();
  });
  const standing = async () => {
    const found = await world.webhooks.find(webhookId);
    return found.ok && found.value?.unhealthy ? 'unhealthy' : 'good';
  };
  const markUnhealthy = (secondsAgo: number) =>
    world.database.query`
      update webhooks set unhealthy_at = now() - make_interval(secs => ${secondsAgo}::float8)
      where webhook_id = ${webhookId}`;
  const deliver = async (from = world.retries) => {
    await world.sendDelivery(webhookId, {}, from);
    await world.runBatch({ from });
  };

  it('is the second one of a new webhook, until its first good attempt', async () => {
    await world.database.query`update webhooks set unhealthy_at = default where webhook_id = ${webhookId}`;
    expect(await standing()).toBe('unhealthy');
    await deliver();
    expect(await standing()).toBe('good');
  });

  it('is the second one after a failed attempt', async () => {
    world.answer = { status: 500 };
    await deliver(world.deliveries);
    expect(await standing()).toBe('unhealthy');
  });

  it('is the second one after two seconds: the attempt ends, and is made again there with all its time', async () => {
    const slow = await startHttpServer((_, response) => {
      setTimeout(() => response.end(), 3_000);
    });
    await world.database.query`update webhooks set url = ${slow.url} where webhook_id = ${webhookId}`;
    const delivery = await world.sendDelivery(webhookId);
    expect(await world.runBatch()).toMatchObject({ kept: 0 });
    expect(await standing()).toBe('unhealthy');
    expect(await world.attempts(webhookId)).toEqual([]);
    const [moved] = await world.retries.receive();
    expect(parseDelivery(moved?.body ?? '')).toEqual({ ok: true, value: delivery });

    await deliver();
    expect(await world.attempts(webhookId)).toMatchObject([{ outcome: 'delivered', status: 200 }]);
    expect(await standing()).toBe('unhealthy');
    await slow.stop();
  });

  it('moves what waits in the first one, without an attempt', async () => {
    await markUnhealthy(0);
    const delivery = await world.sendDelivery(webhookId);
    expect(await world.runBatch()).toMatchObject({ kept: 0 });
    expect(world.requests).toEqual([]);
    const [moved] = await world.retries.receive();
    expect(parseDelivery(moved?.body ?? '')).toEqual({ ok: true, value: delivery });
  });

  it.each([
    ['the first one again after a good attempt', 31, 200, 'good'],
    ['the second one for half a minute: a receiver may be slow now and then', 20, 200, 'unhealthy'],
    ['the second one as long as attempts fail', 31, 500, 'unhealthy'],
  ])('is %s', async (_, secondsAgo, status, expected) => {
    await markUnhealthy(secondsAgo);
    world.answer = { status };
    await deliver();
    expect(world.requests).toHaveLength(1);
    expect(await standing()).toBe(expected);
  });
});

describe('internal errors', () => {
  let webhookId: string;
  const runWith = (webhooks: Partial<Webhooks>) =>
    world.runBatch({ ports: { webhooks: { ...world.webhooks, ...webhooks } } });
  beforeEach(async () => {
    webhookId = await world.addWebhook();
    await world.sendDelivery(webhookId);
  });

  it.each<[string, () => ReturnType<typeof runWith>, Record<string, string>]>([
    ['the database is unavailable', () => runWith({ find: away }), { cause: 'database_unavailable' }],
    [
      'KMS is unavailable',
      () => {
        world.mac.failing = true;
        return world.runBatch();
      },
      { cause: 'secret_unavailable', reason: 'KMSInvalidStateException' },
    ],
    [
      'a bug throws',
      () => runWith({ find: () => Promise.reject(new Error('bug')) }),
      { cause: 'internal_error' },
    ],
  ])(
    'send no request while %s: the message comes again as it is, and no attempt is counted',
    async (_, run, line) => {
      expect(await run()).toMatchObject({ kept: 1 });
      expect(world.requests).toEqual([]);
      expect(await world.attempts(webhookId)).toEqual([]);
      expect(await world.deliveries.count()).toEqual(hidden);
      expect(world.deliveries.waits()).toEqual([5]);
      expect(world.log.lines).toMatchObject([{ logCode: 'WEBHOOK_DELIVERY_WAITS', ...line }]);
    },
  );

  it('do not make a delivery happen twice because its row could not be written', async () => {
    expect(await runWith({ record: away })).toMatchObject({ kept: 0 });
    expect(world.requests).toHaveLength(1);
    expect(world.log.lines).toMatchObject([
      { logCode: 'WEBHOOK_ATTEMPTED' },
      { logCode: 'WEBHOOK_ATTEMPT_NOT_RECORDED' },
    ]);
  });

  it('do not keep a webhook enabled whose receiver is gone, while rows are refused', async () => {
    await world.database.owner.execute(sql`revoke insert on webhook_attempts from deliver_webhook`);
    world.answer = { status: 410 };
    expect(await world.runBatch()).toMatchObject({ kept: 0 });
    await world.database.owner.execute(sql`grant insert on webhook_attempts to deliver_webhook`);
    expect(await world.webhooks.find(webhookId)).toMatchObject({ value: { enabled: false } });
  });

  it('keep a message that could not be sent to the dead-letter queue', async () => {
    await world.deliveries.send('poison');
    expect(await world.runBatch({ deadLetters: gone })).toMatchObject({ received: 2, kept: 1 });
  });

  it('of one delivery do not affect the others of the batch', async () => {
    await world.sendDelivery(await world.addWebhook());
    const find: Webhooks['find'] = (id) =>
      id === webhookId ? Promise.reject(new Error('bug')) : world.webhooks.find(id);
    expect(await runWith({ find })).toMatchObject({ received: 2, kept: 1 });
    expect(world.requests).toHaveLength(1);
  });
});

it('sends an invalid message to the dead-letter queue, with the reason: it cannot loop', async () => {
  await world.deliveries.send('poison');
  await world.deliveries.send('{"webhookId":"wh-1"}');
  await world.sendDelivery(`${await world.addWebhook()}\0`);
  expect(await world.runBatch()).toMatchObject({ received: 3, kept: 0 });
  const dead = await world.deadLetters.receive();
  expect(dead.map(({ body, messageAttributes }) => [body, messageAttributes.Reason?.stringValue])).toEqual([
    ['poison', 'The message is not a JSON object.'],
    ['{"webhookId":"wh-1"}', '"deliveryId" must be "msg_" with 32 hexadecimal digits.'],
    [expect.any(String), '"webhookId" must be an id such as wh-xxxxx-xxxxx-xxxxxxxxxxxxxxxx.'],
  ]);
});
