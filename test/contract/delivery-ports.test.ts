import { newId } from '../../domain/ids';
import { ok } from '../../domain/result';
import type { AttemptRow, Webhooks } from '../../lambda/deliver-webhook/deliver-webhook';
import { createWebhooks } from '../../lambda/deliver-webhook/webhooks-table';
import type { Subscriptions } from '../../lambda/fan-out-event/fan-out-event';
import { createSubscriptions } from '../../lambda/fan-out-event/subscriptions-table';
import { SimulatedDatabase } from '../runs/simulate/database';
import { useMigratedDatabase } from '../support/region-database';
import { addOrganization, addWebhook, eventText } from '../support/webhooks';

const region = useMigratedDatabase();
const url = 'https://hooks.example.com/';

/** The ports on PostgreSQL and those of the simulation, which must not differ. */
const implementations = {
  PostgreSQL: async () => {
    const organizationId = await addOrganization(region.owner);
    return {
      organizationId,
      webhooks: createWebhooks(region.as('deliver_webhook')),
      subscriptions: createSubscriptions(region.as('fan_out_event')),
      add: () => addWebhook(region.owner, organizationId),
      /** Marked unhealthy this long ago. */
      mark: (webhookId: string, seconds: number) => region.query`
        update webhooks set unhealthy_at = now() - make_interval(secs => ${seconds}::integer) where webhook_id = ${webhookId}`,
    };
  },
  'the simulation': async () => {
    const organizationId = newId('or');
    const database = new SimulatedDatabase(Date.now);
    return {
      organizationId,
      webhooks: {
        find: async (delivery) => ok(database.find(delivery)),
        record: async (row) => ok(database.record([row])[0] ?? false),
        disable: async (...webhook) => ok(database.disable(...webhook)),
      } satisfies Webhooks,
      subscriptions: {
        findSubscribers: async (event) => ok(database.findSubscribers(event)),
        findStoredEvent: async (event) => ok(database.findStoredEvent(event)),
        findDisabling: async (webhookId) => ok(database.findDisabling(webhookId)),
      } satisfies Subscriptions,
      add: async () => {
        const webhookId = newId('wh');
        database.addWebhook({ webhookId, organizationId, url, enabled: true });
        return webhookId;
      },
      mark: async (webhookId: string, seconds: number) => {
        const webhook = database.webhooks.get(webhookId);
        if (webhook) webhook.unhealthyAt = Date.now() - seconds * 1_000;
      },
    };
  },
};

describe.each(Object.entries(implementations))('on %s', (_, open) => {
  let world: Awaited<ReturnType<typeof open>>;
  let webhookId: string;
  let key: { webhookId: string; deliveryId: string };
  beforeEach(async () => {
    world = await open();
    webhookId = await world.add();
    key = { webhookId, deliveryId: `msg_${webhookId}` };
  });

  const row = (number: number, change: Partial<AttemptRow> = {}): AttemptRow => ({
    ...{
      ...key,
      eventId: 'ev-1',
      attemptedAt: Date.now(),
      durationMs: 10,
      outcome: 'failed',
      reason: 'timeout',
    },
    ...{ series: '', number, copy: `copy ${number}`, attempt: number },
    successor: { attempt: number + 1, notBefore: 1_795_000_000_000 },
    ...change,
  });
  const final = (number: number, outcome: 'delivered' | 'given_up', copy = 'final') => {
    const { successor: _, ...attempt } = row(number, { outcome, copy });
    return attempt;
  };
  const last = async (series?: string) => {
    const known = await world.webhooks.find({ ...key, ...(series && { series }) });
    return known.ok ? known.value.last : known;
  };
  const webhook = async () => {
    const known = await world.webhooks.find(key);
    return known.ok ? known.value.webhook : undefined;
  };

  it('a series is known by its final attempt, otherwise by the highest number', async () => {
    expect([await last(), await world.webhooks.find({ ...key, webhookId: newId('wh') })]).toEqual([
      undefined,
      ok({}),
    ]);
    for (const number of [2, 1]) expect(await world.webhooks.record(row(number))).toEqual(ok(true));
    const successor = { attempt: 3, notBefore: 1_795_000_000_000 };
    expect(await last()).toEqual({ number: 2, copy: 'copy 2', successor });
    await world.webhooks.record(final(1, 'delivered'));
    expect(await last()).toEqual({ number: 1, copy: 'final' });
    expect(await last('again')).toBeUndefined();
    await world.webhooks.record(row(1, { series: 'again' }));
    expect(await last('again')).toMatchObject({ number: 1 });
  });

  it('a number has one row: the first, unless another copy was delivered', async () => {
    await world.webhooks.record(row(1));
    expect(await world.webhooks.record(row(1, { copy: 'twin' }))).toEqual(ok(false));
    expect(await last()).toMatchObject({ copy: 'copy 1' });
    await world.webhooks.record(final(2, 'given_up'));
    for (const [copy, written] of [
      ['twin', true],
      ['third', false],
    ] as const)
      expect(await world.webhooks.record(final(2, 'delivered', copy))).toEqual(ok(written));
    expect(await world.webhooks.record(final(2, 'given_up', 'fourth'))).toEqual(ok(false));
    expect(await last()).toEqual({ number: 2, copy: 'twin' });
  });

  it.each([
    ['a failure', 0, {}, true],
    ['a slow success', 0, { outcome: 'delivered', durationMs: 2_001 }, true],
    ['a success soon after a failure', 20, { outcome: 'delivered' }, true],
    ['a success half a minute after a failure', 31, { outcome: 'delivered' }, false],
  ] as const)(
    'after %s, marked %d s ago, a webhook is unhealthy or not',
    async (_what, ago, change, unhealthy) => {
      expect(await webhook()).toMatchObject({ enabled: true, unhealthy: false });
      if (ago > 0) await world.mark(webhookId, ago);
      await world.webhooks.record(row(1, change));
      expect(await webhook()).toMatchObject({ unhealthy });
      const accepted = {
        event: { id: 'ev-1', organizationId: world.organizationId, kind: 'k', text: '{}' },
        acceptedAt: 1,
      };
      expect(await world.subscriptions.findSubscribers(accepted)).toEqual(ok([{ webhookId, unhealthy }]));
    },
  );

  it('a disabled webhook is told as the event says it, gets nothing, and is disabled once', async () => {
    const { organizationId } = world;
    expect(await world.webhooks.disable(webhookId, 'https://old.example.com/', 'gone')).toEqual(
      ok(undefined),
    );
    const disabled = await world.webhooks.disable(webhookId, url, 'gone');
    const disabling = { webhookId, organizationId, reason: 'gone', disabledAt: expect.any(Number) };
    expect(disabled).toEqual(ok(disabling));
    expect(await webhook()).toMatchObject({ enabled: false, disabling: disabled.ok && disabled.value });
    expect(await world.subscriptions.findDisabling(webhookId)).toEqual(disabled);
    expect(await world.webhooks.disable(webhookId, url, 'gone')).toEqual(ok(undefined));
    const event = { id: 'ev-1', organizationId, kind: 'k', text: eventText(organizationId, 'ev-1') };
    const accepted = { event, acceptedAt: Date.now() + 60_000 };
    expect(await world.subscriptions.findSubscribers(accepted)).toEqual(ok([]));
    expect(await world.subscriptions.findStoredEvent({ eventId: 'ev-1', webhookId })).toEqual(ok(undefined));
    const other = await world.add();
    const stored = { body: event.text, acceptedAt: accepted.acceptedAt, unhealthy: false };
    expect(await world.subscriptions.findStoredEvent({ eventId: 'ev-1', webhookId: other })).toEqual(
      ok(stored),
    );
    expect(await world.subscriptions.findDisabling(other)).toEqual(ok(undefined));
  });
});

it('of two copies in one statement, one that was delivered is written', async () => {
  const organizationId = await addOrganization(region.owner);
  const webhookId = await addWebhook(region.owner, organizationId);
  const attempt = {
    ...{
      webhookId,
      deliveryId: `msg_${webhookId}`,
      eventId: 'ev-1',
      attemptedAt: Date.now(),
      durationMs: 10,
    },
    ...{ series: '', number: 1, attempt: 1 },
  };
  const copies: readonly AttemptRow[] = [
    { ...attempt, copy: 'a', outcome: 'given_up', reason: 'timeout' },
    { ...attempt, copy: 'b', outcome: 'delivered', reason: 'ok' },
    { ...attempt, copy: 'c', outcome: 'delivered', reason: 'ok' },
  ];
  const webhooks = createWebhooks(region.as('deliver_webhook'));
  expect(await Promise.all(copies.map(webhooks.record))).toEqual([false, true, false].map(ok));
  const simulated = new SimulatedDatabase(Date.now);
  expect(simulated.record(copies)).toEqual([false, true, false]);
});
