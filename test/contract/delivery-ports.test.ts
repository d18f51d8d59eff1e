import { newId } from '../../domain/ids';
import { probe } from '../../domain/probe';
import { ok } from '../../domain/result';
import type { AttemptRow, Webhooks } from '../../lambda/deliver-webhook/ports';
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
      endPause: (webhookId: string) => region.query`
        update webhooks set paused_until = now() where webhook_id = ${webhookId}`,
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
        record: async (row) => ok(database.record([row])[0] ?? { isWritten: false }),
        disable: async (...webhook) => ok(database.disable(...webhook)),
      } satisfies Webhooks,
      subscriptions: {
        findSubscribers: async (event) => ok(database.findSubscribers(event)),
        findStoredEvent: async (event) => ok(database.findStoredEvent(event)),
        findDisabledWebhook: async (webhookId) => ok(database.findDisabledWebhook(webhookId)),
      } satisfies Subscriptions,
      add: async () => {
        const webhookId = newId('wh');
        database.addWebhook({ webhookId, organizationId, url, enabled: true });
        return webhookId;
      },
      endPause: async (webhookId: string) => {
        const webhook = database.webhooks.get(webhookId);
        if (webhook?.pause) webhook.pause = { ...webhook.pause, until: Date.now() };
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
    for (const number of [2, 1])
      expect(await world.webhooks.record(row(number))).toEqual(ok({ isWritten: true }));
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
    expect(await world.webhooks.record(row(1, { copy: 'twin' }))).toEqual(ok({ isWritten: false }));
    expect(await last()).toMatchObject({ copy: 'copy 1' });
    await world.webhooks.record(final(2, 'given_up'));
    for (const [copy, written] of [
      ['twin', true],
      ['third', false],
    ] as const)
      expect(await world.webhooks.record(final(2, 'delivered', copy))).toEqual(ok({ isWritten: written }));
    expect(await world.webhooks.record(final(2, 'given_up', 'fourth'))).toEqual(ok({ isWritten: false }));
    expect(await last()).toEqual({ number: 2, copy: 'twin' });
  });

  const health = { unhealthy: true, answered: false, silent: true, isTrial: false, askedMs: 0 };
  const good = { ...health, unhealthy: false, answered: true, silent: false };

  it.each([
    ['a failure', 0, health, true],
    ['a success soon after a failure', 20, good, true],
    ['a success half a minute after a failure', 31, good, false],
  ] as const)(
    'after %s, marked %d s ago, a webhook is unhealthy or not',
    async (_what, ago, change, unhealthy) => {
      expect(await webhook()).toMatchObject({ enabled: true, unhealthy: false });
      if (ago > 0) await world.mark(webhookId, ago);
      await world.webhooks.record(row(1, { health: change }));
      expect(await webhook()).toMatchObject({ unhealthy });
      const event = { id: 'ev-1', organizationId: world.organizationId, kind: 'k', text: '{}' };
      const accepted = { event, acceptedAt: 1 };
      expect(await world.subscriptions.findSubscribers(accepted)).toEqual(ok([{ webhookId, unhealthy }]));
    },
  );

  /** Records attempts, one after another. @returns the length of the pause after each, in seconds */
  const pauses = async (...attempts: readonly Partial<typeof health>[]) => {
    const lengths: (number | undefined)[] = [];
    for (const attempt of attempts) {
      await world.webhooks.record(row(++number, { health: { ...health, ...attempt } }));
      const { pause } = (await webhook()) ?? {};
      lengths.push(pause && pause.length / 1_000);
    }
    return lengths;
  };
  let number = 0;
  const trial = { isTrial: true };
  const none = undefined;

  it.each<[string, readonly Partial<typeof health>[], readonly (number | undefined)[]]>([
    ['opens after five', Array(6).fill({}), [none, none, none, none, 30, 30]],
    [
      'counts from the last answer',
      [{}, {}, {}, {}, { answered: true, silent: false }, {}],
      Array(6).fill(none),
    ],
    ['does not count slow attempts', Array(6).fill({ silent: false }), Array(6).fill(none)],
    [
      'doubles up to 15 minutes with each failed trial',
      [...Array(5).fill({}), ...Array(6).fill(trial)],
      [none, none, none, none, 30, 60, 120, 240, 480, 900, 900],
    ],
    [
      'ends with any answer',
      [...Array(5).fill({}), { answered: true, silent: false }, {}],
      [none, none, none, none, 30, none, none],
    ],
    ['is asked for', [{ ...good, unhealthy: true, askedMs: 60_500 }, good], [61, 61]],
    [
      'asked for ends with a good trial',
      [
        { ...good, askedMs: 60_000 },
        { ...good, ...trial },
      ],
      [60, none],
    ],
    ['asked for begins anew without an answer', [{ ...good, askedMs: 60_000 }, trial], [60, 30]],
  ])('a pause %s', async (_what, attempts, lengths) => {
    expect(await pauses(...attempts)).toEqual(lengths);
  });

  it('a paused webhook gets the retry queue, and one trial after its pause', async () => {
    await pauses({ ...good, askedMs: 60_000 });
    const { pause } = (await webhook()) ?? {};
    expect(pause).toMatchObject({ reason: 'retry_after', length: 60_000 });
    const event = { id: 'ev-1', organizationId: world.organizationId, kind: 'k', text: '{}' };
    const subscriber = { webhookId, unhealthy: true };
    expect(await world.subscriptions.findSubscribers({ event, acceptedAt: 1 })).toEqual(ok([subscriber]));
    const find = (mayTry: boolean) => world.webhooks.find({ ...key, mayTry });
    expect(await find(true)).not.toMatchObject({ value: { isTrial: true } });
    await world.endPause(webhookId);
    expect(await find(false)).not.toMatchObject({ value: { isTrial: true } });
    const found = await Promise.all([find(true), find(true)]);
    expect(found.map((each) => each.ok && each.value.isTrial === true)).toEqual([true, false]);
    const [, waiting] = found;
    expect(waiting?.ok && (waiting.value.webhook?.pause?.until ?? 0)).toBeGreaterThan(Date.now() + 20_000);
    expect(await find(true)).not.toMatchObject({ value: { isTrial: true } });
  });

  it('a disabled webhook is told as the event says it, gets nothing, and is disabled once', async () => {
    const { organizationId } = world;
    expect(await world.webhooks.disable(webhookId, 'https://old.example.com/', 'gone')).toEqual(
      ok(undefined),
    );
    const disabled = await world.webhooks.disable(webhookId, url, 'gone');
    const disabling = { webhookId, organizationId, reason: 'gone', disabledAt: expect.any(Number) };
    expect(disabled).toEqual(ok(disabling));
    expect(await webhook()).toMatchObject({ enabled: false, disabling: disabled.ok && disabled.value });
    expect(await world.subscriptions.findDisabledWebhook(webhookId)).toEqual(disabled);
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
    expect(await world.subscriptions.findDisabledWebhook(other)).toEqual(ok(undefined));
  });
});

it('of two copies in one statement, one that was delivered is written', async () => {
  const ids = { webhookId: newId('wh'), deliveryId: 'msg_copies', eventId: 'ev-1', series: '' };
  const attempt = { ...ids, attemptedAt: Date.now(), durationMs: 10, number: 1, attempt: 1 };
  const copies: readonly AttemptRow[] = [
    { ...attempt, copy: 'a', outcome: 'given_up', reason: 'timeout' },
    { ...attempt, copy: 'b', outcome: 'delivered', reason: 'ok' },
    { ...attempt, copy: 'c', outcome: 'delivered', reason: 'ok' },
  ];
  const webhooks = createWebhooks(region.as('deliver_webhook'));
  const written = [false, true, false].map((isWritten) => ({ isWritten }));
  expect(await Promise.all(copies.map(webhooks.record))).toEqual(written.map(ok));
  expect(new SimulatedDatabase(Date.now).record(copies)).toEqual(written);
});

it("the probe's webhook is never paused, and while it gets no response, no trial doubles a pause", async () => {
  const organizationId = await addOrganization(region.owner);
  const webhookId = await addWebhook(region.owner, organizationId);
  await region.query`
    insert into webhooks (webhook_id, organization_id, url)
    values (${probe.webhookId}, ${organizationId}, ${url}) on conflict do nothing`;
  const webhooks = createWebhooks(region.as('deliver_webhook'));
  const attempt = { eventId: 'ev-1', attemptedAt: Date.now(), durationMs: 10, series: '', attempt: 1 };
  const silent = { unhealthy: true, answered: false, silent: true, isTrial: false, askedMs: 0 };
  let number = 0;
  const record = async (id: string, change: Partial<typeof silent> = {}) => {
    const ids = { webhookId: id, deliveryId: `msg_${id}`, number: ++number, copy: '' };
    const health = { ...silent, ...change };
    await webhooks.record({ ...attempt, ...ids, outcome: 'given_up', reason: 'timeout', health });
    const known = await webhooks.find({ webhookId: id, deliveryId: '' });
    return known.ok && known.value.webhook?.pause?.length;
  };
  for (let count = 0; count < 6; count++) expect(await record(probe.webhookId)).toBeUndefined();
  for (let count = 0; count < 5; count++) await record(webhookId);
  const trial = { isTrial: true };
  expect([await record(webhookId, trial), await record(webhookId, trial)]).toEqual([30_000, 30_000]);
  await record(probe.webhookId, { answered: true, silent: false });
  expect([await record(webhookId, trial), await record(webhookId, trial)]).toEqual([60_000, 120_000]);
});
