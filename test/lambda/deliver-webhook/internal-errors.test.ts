import { fail } from '../../../domain/result';
import { sql } from '../../../lambda/database/sql';
import type { Webhooks } from '../../../lambda/deliver-webhook/deliver-webhook';
import { hidden, useDeliveryWorld } from './delivery-world';

const hour = 3_600_000;
const gone = 'http://127.0.0.1:1/000000000000/gone';
const world = useDeliveryWorld();

describe('internal errors', () => {
  let webhookId: string;
  const unavailable = async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
  const runWith = (webhooks: Partial<Webhooks>) =>
    world.runBatch({ ports: { webhooks: { ...world.webhooks, ...webhooks } } });
  beforeEach(async () => {
    webhookId = await world.addWebhook();
    await world.sendDelivery(webhookId);
  });

  it('send no request while the database is unavailable: the message is retried, and no attempt is counted', async () => {
    expect(await runWith({ find: unavailable })).toMatchObject({ kept: 1 });
    expect(world.requests).toEqual([]);
    expect(await world.attempts(webhookId)).toEqual([]);
    expect(await world.deliveries.count()).toEqual(hidden);
    expect(world.deliveries.waits()).toEqual([5]);
    expect(world.log.lines).toMatchObject([
      { logCode: 'WEBHOOK_DELIVERY_WAITS', cause: 'database_unavailable' },
    ]);
  });

  it('send no request while KMS is unavailable', async () => {
    world.mac.failing = true;
    expect(await world.runBatch()).toMatchObject({ kept: 1 });
    expect(world.requests).toEqual([]);
    expect(await world.attempts(webhookId)).toEqual([]);
    expect(world.log.lines).toMatchObject([
      { cause: 'secret_unavailable', reason: 'KMSInvalidStateException' },
    ]);
  });

  const notRecorded = [{ logCode: 'WEBHOOK_ATTEMPTED' }, { logCode: 'WEBHOOK_ATTEMPT_NOT_RECORDED' }];

  it('do not make a delivery happen twice because its row could not be written', async () => {
    expect(await runWith({ record: unavailable })).toMatchObject({ kept: 0 });
    expect(world.requests).toHaveLength(1);
    expect(world.log.lines).toMatchObject(notRecorded);
  });

  describe('while rows are refused', () => {
    beforeEach(() =>
      world.database.owner.execute(sql`revoke insert on webhook_attempts from deliver_webhook`),
    );
    afterEach(() => world.database.owner.execute(sql`grant insert on webhook_attempts to deliver_webhook`));

    it('do not make a delivery happen twice', async () => {
      expect(await world.runBatch()).toMatchObject({ kept: 0 });
      expect(world.requests).toHaveLength(1);
      expect(world.log.lines).toMatchObject(notRecorded);
    });

    it('do not keep a webhook enabled whose receiver is gone', async () => {
      world.answer = { status: 410 };
      expect(await world.runBatch()).toMatchObject({ kept: 0 });
      expect(await world.webhooks.find(webhookId)).toMatchObject({ value: { enabled: false } });
    });
  });

  it('keep a message whose webhook could not be disabled', async () => {
    world.answer = { status: 410 };
    expect(await runWith({ disable: unavailable })).toMatchObject({ kept: 1 });
  });

  it('keep a message that could not be sent to the dead-letter queue', async () => {
    await world.sendDelivery(webhookId, { startedAt: Date.now() - 100 * hour, notBefore: Date.now() });
    world.answer = { status: 500 };
    expect(await world.runBatch({ deadLetters: gone })).toMatchObject({ received: 2, kept: 2 });
  });

  it('of one delivery do not affect the others of the batch', async () => {
    await world.sendDelivery(await world.addWebhook());
    const find: Webhooks['find'] = (id) =>
      id === webhookId ? Promise.reject(new Error('bug')) : world.webhooks.find(id);
    expect(await runWith({ find })).toMatchObject({
      received: 2,
      kept: 1,
    });
    expect(world.requests).toHaveLength(1);
  });
});
