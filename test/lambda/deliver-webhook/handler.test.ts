import { Webhook } from 'standardwebhooks';
import { sql } from '../../../lambda/database/sql';
import { expectDocumentedDelivery } from '../../support/openapi';
import { disableWebhook } from '../../support/webhooks';
import { emptied, useDeliveryWorld } from './delivery-world';

const world = useDeliveryWorld();

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
  const state = async (webhookId: string) => {
    const rows = await world.database.owner.execute(
      sql`select enabled, disabled_reason from webhooks where webhook_id = ${webhookId}`,
    );
    return rows.ok ? rows.value[0] : undefined;
  };

  it('disables the webhook, whose other deliveries stop', async () => {
    const webhookId = await world.addWebhook();
    world.answer = { status: 410 };
    await world.sendDelivery(webhookId);
    expect(await world.runBatch()).toMatchObject({ kept: 0 });
    expect(await state(webhookId)).toEqual({ enabled: false, disabled_reason: 'gone' });
    expect(await world.attempts(webhookId)).toMatchObject([
      { status: 410, outcome: 'disabled', reason: 'gone' },
    ]);

    await world.sendDelivery(webhookId, { eventId: 'ev-2' });
    await world.runBatch();
    expect(world.requests).toHaveLength(1);
  });

  it('of a URL that the webhook no longer has disables nothing', async () => {
    const webhookId = await world.addWebhook();
    await world.webhooks.disable(webhookId, 'https://old.example.com/', 'gone');
    expect(await state(webhookId)).toEqual({ enabled: true, disabled_reason: null });
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
