import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../domain/ids';
import { probe } from '../../domain/probe';
import { ok } from '../../domain/result';
import type { HealthResult } from '../../lambda/deliver-webhook/health';
import type { AttemptRow, AttemptStore, HealthChange, Webhooks } from '../../lambda/deliver-webhook/ports';
import { createAttemptStore, createWebhooks } from '../../lambda/deliver-webhook/webhooks-table';
import type { Subscriptions } from '../../lambda/fan-out-event/fan-out-event';
import { createSubscriptions } from '../../lambda/fan-out-event/subscriptions-table';
import { SimulatedDatabase } from '../runs/simulate/database';
import { useMigratedDatabase } from '../support/region-database';
import { addOrganization, addWebhook, eventText } from '../support/webhooks';

const region = useMigratedDatabase();
const url = 'https://hooks.example.com/';
const moved = 'https://moved.example.com/';

/** The ports on PostgreSQL and those of the simulation, which must not differ. */
const implementations = {
  PostgreSQL: async () => {
    const organizationId = await addOrganization(region.owner);
    const database = region.as('deliver_webhook');
    return {
      organizationId,
      webhooks: createWebhooks(database),
      store: createAttemptStore(database),
      subscriptions: createSubscriptions(region.as('fan_out_event')),
      add: () => addWebhook(region.owner, organizationId, { url }),
      move: (webhookId: string) => region.query`
        update webhooks set url = ${moved} where webhook_id = ${webhookId}`,
    };
  },
  'the simulation': async () => {
    const organizationId = newId('or');
    const database = new SimulatedDatabase(Date.now);
    return {
      organizationId,
      webhooks: {
        find: async (delivery) => ok(database.find(delivery)),
        disable: async (...webhook) => ok(database.disable(...webhook)),
      } satisfies Partial<Webhooks>,
      store: {
        write: async (attempts) => ok(database.write(attempts)),
        set: async (changes) => ok(database.set(changes)),
      } satisfies AttemptStore,
      subscriptions: {
        findSubscribers: async (event) => ok(database.findSubscribers(event)),
        findStoredEvent: async (event) => ok(database.findStoredEvent(event)),
        findDisabledWebhook: async (webhookId) => ok(database.findDisabledWebhook(webhookId)),
      } satisfies Subscriptions,
      add: async () => {
        const webhookId = newId('wh');
        database.addWebhook({ webhookId, organizationId, url, enabled: true, health: { failures: 0 } });
        return webhookId;
      },
      move: async (webhookId: string) => {
        const webhook = database.webhooks.get(webhookId);
        if (webhook) webhook.url = moved;
      },
    };
  },
};

const attempted = Date.UTC(2036, 10, 20);
const row = (key: Pick<AttemptRow, 'webhookId' | 'deliveryId'>, change: Partial<AttemptRow> = {}) => {
  const { number = 1 } = change;
  const result = { attemptedAt: attempted, durationMs: 10, outcome: 'failed', reason: 'timeout' } as const;
  const successor = { attempt: number + 1, notBefore: 1_795_000_000_000 };
  const place = { series: '', number, copy: `copy ${number}`, attempt: number, successor };
  return { ...key, eventId: 'ev-1', ...result, ...place, ...change };
};
const final = (...of: Parameters<typeof row>): AttemptRow => {
  const { successor: _, ...attempt } = row(...of);
  return attempt;
};

const silent: HealthResult = { url, unhealthy: true, answered: false, silent: true, askedMs: 0 };
const good: HealthResult = { ...silent, unhealthy: false, answered: true, silent: false };
const pause = { reason: 'no_response', until: Date.UTC(2036, 0, 1, 0, 0, 0, 7), length: 30_000 } as const;

describe.each(Object.entries(implementations))('on %s', (_, open) => {
  let world: Awaited<ReturnType<typeof open>>;
  let webhookId: string;
  let key: { webhookId: string; deliveryId: string };
  beforeEach(async () => {
    world = await open();
    webhookId = await world.add();
    key = { webhookId, deliveryId: `msg_${webhookId}` };
  });

  const write = async (...attempts: readonly AttemptRow[]) => {
    const written = await world.store.write(attempts);
    return written.ok ? written.value : [];
  };
  const isWritten = async (attempt: AttemptRow) => (await write(attempt))[0]?.isWritten;
  let number = 0;
  /** What is known of the webhook after these results. */
  const healthAfter = async (...results: readonly HealthResult[]) => {
    const written = await write(...results.map((health) => row(key, { number: ++number, health })));
    return written[0]?.health;
  };
  const known = async (change: object = {}) => {
    const found = await world.webhooks.find({ ...key, ...change });
    return found.ok ? found.value : {};
  };

  it('a series is known by its final attempt, otherwise by the highest number', async () => {
    expect((await known()).last).toBeUndefined();
    expect(await known({ webhookId: newId('wh') })).toEqual({});
    for (const number of [2, 1]) expect(await isWritten(row(key, { number }))).toBe(true);
    const successor = { attempt: 3, notBefore: 1_795_000_000_000 };
    expect((await known()).last).toEqual({ number: 2, copy: 'copy 2', successor });
    await write(final(key, { outcome: 'delivered', copy: 'final' }));
    expect((await known()).last).toEqual({ number: 1, copy: 'final' });
    expect((await known({ series: 'again' })).last).toBeUndefined();
    await write(row(key, { series: 'again' }));
    expect((await known({ series: 'again' })).last).toMatchObject({ number: 1 });
  });

  it('a number has one row: the first, unless another copy was delivered', async () => {
    await write(row(key));
    expect(await isWritten(row(key, { copy: 'twin' }))).toBe(false);
    expect((await known()).last).toMatchObject({ copy: 'copy 1' });
    await write(final(key, { number: 2, outcome: 'given_up' }));
    for (const [copy, outcome, written] of [
      ['twin', 'delivered', true],
      ['third', 'delivered', false],
      ['fourth', 'given_up', false],
    ] as const)
      expect(await isWritten(final(key, { number: 2, outcome, copy }))).toBe(written);
    expect((await known()).last).toEqual({ number: 2, copy: 'twin' });
    const copies = (['given_up', 'delivered', 'delivered'] as const).map((outcome, index) =>
      final(key, { number: 3, outcome, copy: `${index}` }),
    );
    expect((await write(...copies)).map((each) => each.isWritten)).toEqual([false, true, false]);
  });

  it('a series is replaced by a later one, and by one that was delivered since its first attempt', async () => {
    const isReplaced = async () =>
      Promise.all(['', 'again'].map(async (series) => (await known({ series })).isReplaced === true));
    await write(row(key, { series: 'again' }));
    expect(await isReplaced()).toEqual([false, false]);
    await write(final(key, { outcome: 'delivered', attemptedAt: attempted - 11, durationMs: 10 }));
    expect(await isReplaced()).toEqual([true, false]);
    await write(final(key, { number: 2, outcome: 'delivered', attemptedAt: attempted - 10, durationMs: 10 }));
    expect(await isReplaced()).toEqual([true, true]);
  });

  it('failures are counted from the last response, and only of the current URL', async () => {
    expect(await healthAfter(silent, silent, { ...silent, silent: false })).toMatchObject({ failures: 2 });
    expect(await healthAfter(silent)).toMatchObject({ failures: 3 });
    expect(await healthAfter({ ...silent, silent: false })).toMatchObject({ failures: 3 });
    expect(await healthAfter(good, silent)).toMatchObject({ failures: 0 });
    await world.move(webhookId);
    expect(await healthAfter(silent)).toBeUndefined();
    expect(await healthAfter({ ...silent, url: moved })).toMatchObject({ failures: 1 });
  });

  it('a health is set if its webhook still has the URL and pause that were read, and no fewer failures', async () => {
    const from = await healthAfter(silent);
    if (!from) throw new Error('It has no health.');
    const to = { failures: from.failures, unhealthyAt: pause.until, pause };
    const change: HealthChange = { webhookId, url, from, to };
    const set = (part: Partial<HealthChange>) => world.store.set([{ ...change, ...part }]);
    expect(await set({ url: moved })).toEqual(ok([]));
    expect(await set({ to: { ...to, failures: 2 } })).toEqual(ok([]));
    expect(await set({ from: { ...from, pause } })).toEqual(ok([]));
    expect(await set({})).toEqual(ok([webhookId]));
    expect(await healthAfter({ ...silent, silent: false })).toEqual(to);
    // Somebody has marked it since.
    const ended = { from: { failures: 0, pause }, to: { failures: 0 } };
    expect(await set(ended)).toEqual(ok([webhookId]));
    expect(await healthAfter({ ...silent, silent: false })).toEqual({
      failures: 1,
      unhealthyAt: pause.until,
    });
    expect(await set({ from: { failures: 0, unhealthyAt: pause.until }, to: { failures: 0 } })).toEqual(
      ok([webhookId]),
    );
    expect(await healthAfter(good)).toEqual({ failures: 0 });
  });

  it('a paused webhook gets the retry queue, and one trial after its pause', async () => {
    const read = (await healthAfter(good)) ?? { failures: 0 };
    const subscribers = () => {
      const event = { id: 'ev-1', organizationId: world.organizationId, kind: 'k', text: '{}' };
      return world.subscriptions.findSubscribers({ event, acceptedAt: 1 });
    };
    expect(await subscribers()).toEqual(ok([{ webhookId, unhealthy: false }]));
    const lasting = { ...read, pause };
    await world.store.set([{ webhookId, url, from: read, to: lasting }]);
    expect((await known()).webhook).toMatchObject({ unhealthy: false, pause });
    expect(await subscribers()).toEqual(ok([{ webhookId, unhealthy: true }]));
    expect((await known({ mayTry: true })).trial).toBeUndefined();
    const over = { ...pause, until: Date.now() - 1 };
    await world.store.set([{ webhookId, url, from: lasting, to: { ...read, pause: over } }]);
    expect((await known({ mayTry: false })).trial).toBeUndefined();
    const [first, second] = await Promise.all([known({ mayTry: true }), known({ mayTry: true })]);
    const { until = 0 } = first?.webhook?.pause ?? {};
    expect(first?.trial).toEqual({ until, probeAnswers: true });
    expect(second?.trial).toBeUndefined();
    expect(second?.webhook?.pause?.until).toBe(until);
    expect(until).toBeGreaterThan(Date.now() + 20_000);
    expect((await known({ mayTry: true })).trial).toBeUndefined();
  });

  it('a disabled webhook is told as the event says it, gets nothing, and is disabled once', async () => {
    const { organizationId } = world;
    expect(await world.webhooks.disable(webhookId, moved, 'gone')).toEqual(ok(undefined));
    const disabling = { webhookId, organizationId, reason: 'gone', disabledAt: expect.any(Number) };
    const disabled = await world.webhooks.disable(webhookId, url, 'gone');
    expect(disabled).toEqual(ok({ ...disabling, isNew: true }));
    const told = await world.subscriptions.findDisabledWebhook(webhookId);
    expect(told).toEqual(ok(disabling));
    expect((await known()).webhook).toMatchObject({ enabled: false, disabling: told.ok && told.value });
    const again = await world.webhooks.disable(webhookId, url, 'again');
    expect(again).toEqual(ok({ ...(told.ok && told.value), isNew: false }));
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

describe('on PostgreSQL, of batches at once', () => {
  let store: AttemptStore;
  let webhookIds: readonly string[];
  beforeEach(async () => {
    store = createAttemptStore(region.as('deliver_webhook'));
    const organizationId = await addOrganization(region.owner);
    const add = () => addWebhook(region.owner, organizationId, { url });
    webhookIds = await Promise.all([add(), add()]);
  });

  let number = 0;
  const write = (...results: readonly (readonly [webhookId: string | undefined, HealthResult])[]) =>
    store.write(
      results.map(([webhookId = '', health]) =>
        row({ webhookId, deliveryId: `msg_${webhookId}` }, { number: ++number, health }),
      ),
    );
  const failures = async () => {
    const found = await region.query`
      select failures from webhooks where webhook_id in (${webhookIds[0] ?? ''}, ${webhookIds[1] ?? ''})
      order by webhook_id = ${webhookIds[1] ?? ''}`;
    return found.map((each) => each.failures);
  };

  it('a response waits for the lock of its webhook and counts; silence does not wait, and is left out', async () => {
    const [webhookId] = webhookIds;
    await write([webhookId, silent]);
    let answering: ReturnType<typeof write> | undefined;
    await region.owner.transaction(async (other) => {
      await other.execute({
        text: ['select url from webhooks where webhook_id = ', ' for update'],
        values: [webhookId ?? ''],
      });
      const [, unlocked] = webhookIds;
      const skipped = await write([webhookId, silent], [unlocked, silent]);
      expect(skipped).toMatchObject(ok([{ isWritten: true }, { health: { failures: 1 } }]));
      expect(skipped.ok && skipped.value[0]).not.toHaveProperty('health');
      answering = write([webhookId, good]);
      expect(await Promise.race([answering, sleep(300)])).toBeUndefined();
      return ok(null);
    });
    expect(await answering).toMatchObject(ok([{ isWritten: true, health: { failures: 0 } }]));
    expect(await failures()).toEqual([0, 1]);
  });

  it('with the roles of their webhooks crossed, none fails', async () => {
    const [one, two] = webhookIds;
    const batches = Array.from({ length: 200 }, (_, index) =>
      index % 2 === 0 ? write([one, good], [two, silent]) : write([two, good], [one, silent]),
    );
    const outcomes = await Promise.all(batches);
    expect(outcomes.filter((outcome) => !outcome.ok)).toEqual([]);
  });

  it("a trial knows whether the environment's own probe gets responses", async () => {
    const [webhookId = ''] = webhookIds;
    const organizationId = await addOrganization(region.owner);
    await region.query`
      insert into webhooks (webhook_id, organization_id, url) values (${probe.webhookId}, ${organizationId}, ${url})`;
    await write([probe.webhookId, silent]);
    await region.query`
      update webhooks set paused_until = now(), pause_reason = 'no_response', pause_seconds = 30
      where webhook_id = ${webhookId}`;
    const { find } = createWebhooks(region.as('deliver_webhook'));
    const found = await find({ webhookId, deliveryId: 'msg_1', mayTry: true });
    expect(found).toMatchObject(ok({ trial: { probeAnswers: false } }));
  });
});
