import { newId } from '../../../domain/ids';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { createSubscriptions } from '../../../lambda/fan-out-event/subscriptions-table';
import { addOrganization, addWebhook } from '../../support/webhooks';
import { type Json, refused, useOperations } from './operations';

const { region, invoke, run } = useOperations();
let organizationId: string;
beforeEach(async () => {
  organizationId = await addOrganization(region.owner);
});
const add = async (change?: { kinds: readonly string[] }) => {
  const webhookId = await addWebhook(region.owner, organizationId, change);
  await region.query`update webhooks set created_at = '2026-01-01' where webhook_id = ${webhookId}`;
  return webhookId;
};

describe('list-delivery-attempts', () => {
  const at = Date.parse('2026-11-20T12:00:00.123Z');
  const failed = { durationMs: 12.4, outcome: 'failed', reason: 'connection_refused' } as const;
  const delivered = { status: 204, outcome: 'delivered', reason: 'ok' } as const;
  const record = (...attempts: Parameters<ReturnType<typeof createWebhooks>['record']>[0][]) =>
    Promise.all(attempts.map((each) => createWebhooks(region.as('deliver_webhook')).record(each)));

  it('lists the attempts of an event, latest first, with the time of the next one', async () => {
    const ids = { eventId: 'evt_1', webhookId: newId('wh'), deliveryId: 'msg_1' };
    await record({ ...ids, ...failed, attemptedAt: at, nextAttemptAt: at + 5_000 });
    await record({ ...ids, ...delivered, attemptedAt: at + 5_001, durationMs: 12 });
    await record({ ...ids, ...failed, eventId: 'evt_2', attemptedAt: at });

    const [first, second] = ['2026-11-20T12:00:00.123Z', '2026-11-20T12:00:05.124Z'];
    const nextAttemptAt = '2026-11-20T12:00:05.123Z';
    expect(await run('list-delivery-attempts', { eventId: 'evt_1' })).toEqual({
      attempts: [
        { ...ids, ...delivered, date: second, durationMs: 12, nextAttemptAt: null },
        { ...ids, ...failed, date: first, durationMs: 12, status: null, nextAttemptAt },
      ],
    });
  });

  it('filters by webhook, event, outcome and time', async () => {
    const webhookId = newId('wh');
    const ids = { webhookId, deliveryId: 'msg_1' };
    for (const [index, outcome] of (['failed', 'given_up', 'failed'] as const).entries())
      await record({ ...ids, ...failed, outcome, eventId: `evt_${index}`, attemptedAt: at + index * 1_000 });
    await record({ ...ids, ...failed, webhookId: newId('wh'), eventId: 'evt_0', attemptedAt: at });
    const listed = async (input: Json) => {
      const { attempts } = await run<{ attempts: { eventId: string }[] }>('list-delivery-attempts', input);
      return attempts.map(({ eventId }) => eventId);
    };
    expect(await listed({ webhookId })).toEqual(['evt_2', 'evt_1', 'evt_0']);
    expect(await listed({ webhookId, limit: 1 })).toEqual(['evt_2']);
    expect(await listed({ webhookId, outcome: 'given_up' })).toEqual(['evt_1']);
    expect(await listed({ webhookId, eventId: 'evt_0' })).toEqual(['evt_0']);
    const [since, until] = [at + 500, at + 1_000].map((time) => new Date(time).toISOString());
    expect(await listed({ webhookId, since })).toEqual(['evt_2', 'evt_1']);
    expect(await listed({ webhookId, since, until })).toEqual(['evt_1']);
    expect(await listed({ webhookId, until: '2026-11-20T12:00:00+00:00' })).toEqual([]);
  });

  it('distinguishes events and webhooks without attempts from unknown ones', async () => {
    const webhookId = await add();
    const eventId = 'evt_kept';
    await createSubscriptions(region.as('fan_out_event')).findSubscribers({
      event: { id: eventId, organizationId, kind: 'a', text: '{}' },
      acceptedAt: at,
    });
    expect(await run('list-delivery-attempts', { eventId, webhookId })).toEqual({ attempts: [] });
    const list = (input: Json) => invoke('list-delivery-attempts', input);
    expect(await list({ eventId: 'evt_unknown', webhookId })).toEqual(refused('event_not_found'));
    expect(await list({ eventId, webhookId: newId('wh') })).toEqual(refused('webhook_not_found'));
  });
});

describe('list-kept-events', () => {
  const time = (second: number) => new Date(Date.UTC(2036, 10, 20, 12, 0, second, 7)).toISOString();
  const keep = (id: string, second: number, kind = 'wallet.created') =>
    createSubscriptions(region.as('fan_out_event')).findSubscribers({
      event: { id, organizationId, kind, text: '{}' },
      acceptedAt: Date.parse(time(second)),
    });
  const list = async (webhookId: string, input: Json = {}) => {
    const all = { webhookId, since: time(0), until: time(59), ...input };
    const { events } = await run<{ events: { eventId: string }[] }>('list-kept-events', all);
    return events.map(({ eventId }) => eventId);
  };
  /** Unique across organizations. */
  const own = (id: string) => `${organizationId}_${id}`.slice(3);

  it("lists events of the webhook's kinds in the order of acceptance, including those sent while it was disabled", async () => {
    const webhookId = await add({ kinds: ['wallet.created'] });
    await add();
    await keep(own('b'), 1);
    await run('disable-webhook', { webhookId });
    await keep(own('c'), 2);
    await keep(own('a'), 2);
    await keep(own('d'), 3, 'key.created');
    await keep(own('e'), 4);
    const [a, b, c, e] = ['a', 'b', 'c', 'e'].map(own);
    expect(await list(webhookId)).toEqual([b, a, c, e]);
    expect(await list(webhookId, { since: time(2), until: time(3) })).toEqual([a, c]);
    expect(await list(webhookId, { since: time(2), after: a })).toEqual([c, e]);
    expect(await list(webhookId, { eventId: c })).toEqual([c]);
    expect(await list(webhookId, { limit: 1 })).toEqual([b]);
    const { events } = await run<{ events: Json[] }>('list-kept-events', {
      ...{ webhookId, since: time(0), until: time(59), limit: 1 },
    });
    expect(events).toEqual([{ eventId: b, acceptedAt: time(1) }]);
  });

  it('with `undelivered`, omits events already delivered to this webhook', async () => {
    const [webhookId, other] = [await add(), await add()];
    await keep(own('a'), 1);
    await keep(own('b'), 2);
    const attempts = createWebhooks(region.as('deliver_webhook'));
    const attempt = { deliveryId: 'msg_1', attemptedAt: 0, durationMs: 1, reason: 'x' };
    await attempts.record({ ...attempt, webhookId, eventId: own('a'), outcome: 'delivered' });
    await attempts.record({ ...attempt, webhookId, eventId: own('b'), outcome: 'given_up' });
    await attempts.record({ ...attempt, webhookId: other, eventId: own('b'), outcome: 'delivered' });
    expect(await list(webhookId, { undelivered: true })).toEqual([own('b')]);
    expect(await list(webhookId)).toEqual([own('a'), own('b')]);
  });

  it("lists no event that is older than the webhook, or another organization's", async () => {
    await add();
    await keep(own('a'), 1);
    const webhookId = await add();
    await region.query`update webhooks set created_at = ${time(2)}::timestamptz where webhook_id = ${webhookId}`;
    await keep(own('b'), 3);
    expect(await list(webhookId)).toEqual([own('b')]);
    organizationId = await addOrganization(region.owner);
    expect(await list(await add())).toEqual([]);
  });
});
