import { newId } from '../../../domain/ids';
import { probe } from '../../../domain/probe';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { createSubscriptions } from '../../../lambda/fan-out-event/subscriptions-table';
import { addOrganization, addWebhook } from '../../support/webhooks';
import { type Json, refused, useOperations } from './operations';

const { region, invoke, run } = useOperations();
let organizationId: string;
beforeEach(async () => {
  organizationId = await addOrganization(region.owner);
});
const add = (change?: { kinds: readonly string[] }) => addWebhook(region.owner, organizationId, change);
/** Unique across tests. */
const own = (id: string) => `${organizationId}_${id}`.slice(3);
const start = Date.parse('2036-11-20T12:00:00.007Z');
const time = (second: number) => new Date(start + second * 1_000).toISOString();
const keep = (id: string, second: number, kind = 'wallet.created') =>
  createSubscriptions(region.as('fan_out_event')).findSubscribers({
    event: { id: own(id), organizationId, kind, text: '{}' },
    acceptedAt: start + second * 1_000,
  });

type Attempt = Parameters<ReturnType<typeof createWebhooks>['record']>[0];
const failed = { durationMs: 12.4, outcome: 'failed', reason: 'connection_refused' } as const;
const record = (id: string, change: Partial<Attempt> = {}) =>
  createWebhooks(region.as('deliver_webhook')).record({
    ...{ webhookId: 'wh-1', deliveryId: 'msg_1', eventId: own(id), attemptedAt: start, ...failed },
    ...change,
  });

describe('list-delivery-attempts', () => {
  const list = (input: Json) => invoke('list-delivery-attempts', input);

  it('lists the attempts of an event, latest first, with the time of the next one', async () => {
    const delivered = { status: 204, durationMs: 12, outcome: 'delivered', reason: 'ok' } as const;
    await record('a', { nextAttemptAt: start + 5_000 });
    await record('a', { ...delivered, attemptedAt: start + 6_000 });
    await record('b');
    const ids = { eventId: own('a'), webhookId: 'wh-1', deliveryId: 'msg_1' };
    expect(await run('list-delivery-attempts', { eventId: own('a') })).toEqual({
      attempts: [
        { ...ids, ...delivered, date: time(6), nextAttemptAt: null },
        { ...ids, ...failed, durationMs: 12, date: time(0), status: null, nextAttemptAt: time(5) },
      ],
    });
  });

  it('filters by webhook, event, outcome and time', async () => {
    const webhookId = newId('wh');
    for (const [index, outcome] of (['failed', 'given_up', 'failed'] as const).entries())
      await record(`${index}`, { webhookId, outcome, attemptedAt: start + index * 1_000 });
    await record('0');
    const rows: [Json, string[]][] = [
      [{}, ['2', '1', '0']],
      [{ limit: 1 }, ['2']],
      [{ outcome: 'given_up' }, ['1']],
      [{ eventId: own('0') }, ['0']],
      [{ since: time(0.5), until: time(1) }, ['1']],
      [{ until: '2036-11-20T12:00:00+00:00' }, []],
    ];
    for (const [filter, ids] of rows) {
      const attempts = ids.map((id) => expect.objectContaining({ eventId: own(id) }));
      expect(await list({ webhookId, ...filter })).toEqual({ ok: true, result: { attempts } });
    }
  });

  it("leaves out the environment's own probe, unless it is named", async () => {
    const attemptedAt = Date.parse('2037-01-01T00:00:00Z');
    await record('probe', { webhookId: probe.webhookId, attemptedAt });
    const count = async (input: Json) => Object(await run('list-delivery-attempts', input)).attempts.length;
    const since = new Date(attemptedAt).toISOString();
    expect(await count({ since })).toBe(0);
    expect(await count({ since, webhookId: probe.webhookId })).toBe(1);
    expect(await count({ since, eventId: own('probe') })).toBe(1);
  });

  it('distinguishes events and webhooks without attempts from unknown ones', async () => {
    const [webhookId, eventId] = [await add(), own('a')];
    await keep('a', 0);
    expect(await list({ eventId, webhookId })).toEqual({ ok: true, result: { attempts: [] } });
    expect(await list({ eventId: own('b'), webhookId })).toEqual(refused('event_not_found'));
    expect(await list({ eventId, webhookId: newId('wh') })).toEqual(refused('webhook_not_found'));
  });
});

describe('list-stored-events', () => {
  /** The stored events of this minute, without the part of their ids that differs between tests. */
  const list = async (webhookId: string, input: Json = {}) => {
    const all = { webhookId, since: time(0), until: time(59), ...input };
    const { events } = await run<{ events: { eventId: string }[] }>('list-stored-events', all);
    return events.map(({ eventId }) => eventId.split('_')[1]);
  };

  it("lists events of the webhook's kinds in the order of acceptance, including those sent while it was disabled", async () => {
    const webhookId = await add({ kinds: ['wallet.created'] });
    await add();
    await keep('b', 1);
    await run('disable-webhook', { webhookId });
    for (const id of ['c', 'a']) await keep(id, 2);
    await keep('d', 3, 'key.created');
    await keep('e', 4);
    expect(await list(webhookId)).toEqual(['b', 'a', 'c', 'e']);
    expect(await list(webhookId, { since: time(2), until: time(3) })).toEqual(['a', 'c']);
    expect(await list(webhookId, { since: time(2), after: own('a') })).toEqual(['c', 'e']);
    expect(await list(webhookId, { eventId: own('c') })).toEqual(['c']);
    const first = { webhookId, since: time(0), until: time(59), limit: 1 };
    const events = [{ eventId: own('b'), acceptedAt: time(1) }];
    expect(await run('list-stored-events', first)).toEqual({ events });
  });

  it("with `undelivered`, omits events already delivered to this webhook; never lists earlier or others' events", async () => {
    const [webhookId, newer] = [await add(), await add()];
    await region.query`
      update webhooks set created_at = ${time(2)}::timestamptz where webhook_id = ${newer}`;
    await keep('a', 1);
    await keep('b', 3);
    await record('a', { webhookId, outcome: 'delivered' });
    await record('b', { webhookId, outcome: 'given_up' });
    await record('b', { webhookId: newer, outcome: 'delivered' });
    expect(await list(webhookId, { undelivered: true })).toEqual(['b']);
    expect(await list(webhookId)).toEqual(['a', 'b']);
    expect(await list(newer)).toEqual(['b']);
    organizationId = await addOrganization(region.owner);
    expect(await list(await add())).toEqual([]);
  });
});
