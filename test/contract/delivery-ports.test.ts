import { newId } from '../../domain/ids';
import { probe } from '../../domain/probe';
import { ok } from '../../domain/result';
import { sql } from '../../lambda/database/database';
import { createAttemptStore } from '../../lambda/deliver-webhook/attempts-table';
import type { HealthResult } from '../../lambda/deliver-webhook/health';
import type {
  AttemptRow,
  AttemptStore,
  HealthChange,
  LookedAt,
  Webhooks,
} from '../../lambda/deliver-webhook/ports';
import { handOut, standingOf } from '../../lambda/deliver-webhook/series';
import { createWebhooks } from '../../lambda/deliver-webhook/webhooks-table';
import type { Subscriptions } from '../../lambda/fan-out-event/fan-out-event';
import { createSubscriptions } from '../../lambda/fan-out-event/subscriptions-table';
import { batchRequests } from '../../lambda/shared/batch-requests';
import { SimulatedDatabase } from '../runs/simulate/database';
import { eventually } from '../support/eventually';
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
        find: batchRequests(async (deliveries: readonly LookedAt[]) =>
          handOut(database.find(deliveries)).map(ok),
        ),
        release: async (...claim) => ok(database.release(...claim)),
        disable: async (...webhook) => ok(database.disable(...webhook)),
      } satisfies Partial<Webhooks>,
      store: {
        write: async (attempts) => ok(await database.write(attempts)),
        set: async (changes) => ok(await database.set(changes)),
      } satisfies AttemptStore,
      subscriptions: {
        findSubscribers: async (event) => ok(database.findSubscribers(event)),
        findStoredEvent: async (event) => ok(database.findStoredEvent(event)),
        findDisabledWebhook: async (webhookId) => ok(database.findDisabledWebhook(webhookId)),
      } satisfies Subscriptions,
      add: async () => {
        const webhookId = newId('wh');
        const webhook = { webhookId, organizationId, url, secretVersion: 1 };
        database.webhooks.set(webhookId, { ...webhook, health: { failures: 0 } });
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

  it('a series ends if another one began later or was delivered since it began, the first one also if another began before', async () => {
    const standings = () =>
      Promise.all(
        ['', 'again', 'more'].map(async (series) => {
          const { kind } = standingOf({ series, number: 9 }, await known({ series }));
          return kind;
        }),
      );
    const write = (series: string, change: Partial<AttemptRow>) =>
      world.store.write([row(key, { series, ...change })]);
    expect(await standings()).toEqual(['due', 'due', 'due']);
    await write('again', {});
    expect(await standings()).toEqual(['done', 'due', 'due']);
    await write('again', { number: 2, attemptedAt: attempted + 9 });
    await write('more', { attemptedAt: attempted - 1 });
    expect(await standings()).toEqual(['done', 'due', 'done']);
    // At one time, the name decides.
    await write('', { attemptedAt: attempted });
    expect(await standings()).toEqual(['done', 'due', 'done']);
    for (const [number, durationMs, kind] of [
      [2, 9, 'due'],
      [3, 10, 'done'],
    ] as const) {
      await write('more', { number, outcome: 'delivered', attemptedAt: attempted - 10, durationMs });
      expect((await standings())[1]).toBe(kind);
    }
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
    const from = (await healthAfter(silent)) ?? { failures: 0 };
    const to = { ...from, unhealthyAt: pause.until, pause };
    const set = async (part: Partial<HealthChange>) =>
      await world.store.set([{ webhookId, url, from, to, ...part }]);
    const read = () => healthAfter({ ...silent, silent: false });
    for (const other of [{ url: moved }, { to: { ...to, failures: 2 } }, { from: to }])
      expect(await set(other)).toEqual(ok([]));
    expect(await set({})).toEqual(ok([webhookId]));
    expect(await read()).toEqual(to);
    // Somebody has marked it since it was read.
    expect(await set({ from: { ...from, pause }, to: from })).toEqual(ok([webhookId]));
    expect(await read()).toEqual({ ...from, unhealthyAt: pause.until });
    expect(await set({ from: { ...from, unhealthyAt: pause.until }, to: from })).toEqual(ok([webhookId]));
    expect(await read()).toEqual(from);
  });

  it('an event is a repeat if another message brought it', async () => {
    const event = { id: 'ev-1', organizationId: world.organizationId, kind: 'k', text: '{}' };
    const isRepeat = async (messageId: string) => {
      const found = await world.subscriptions.findSubscribers({ event, acceptedAt: 1, messageId });
      return found.ok && found.value.isRepeat;
    };
    for (const messageId of ['m-1', 'm-1']) expect(await isRepeat(messageId)).toBe(false);
    expect(await isRepeat('m-2')).toBe(true);
  });

  it('a paused webhook gets the retry queue, and one trial after its pause', async () => {
    const event = { id: 'ev-1', organizationId: world.organizationId, kind: 'k', text: '{}' };
    const isUnhealthy = async (unhealthy: boolean) =>
      expect(await world.subscriptions.findSubscribers({ event, acceptedAt: 1, messageId: 'm-1' })).toEqual(
        ok({ subscribers: [{ webhookId, unhealthy }], isRepeat: false }),
      );
    const [healthy, lasting] = [{ failures: 0 }, { failures: 0, pause }];
    await isUnhealthy(false);
    await world.store.set([{ webhookId, url, from: healthy, to: lasting }]);
    await isUnhealthy(true);
    expect(await known({ mayTry: true })).toEqual({
      webhook: expect.objectContaining({ unhealthy: false, pause }),
    });
    const over = { failures: 0, pause: { ...pause, until: Date.now() - 1 } };
    await world.store.set([{ webhookId, url, from: lasting, to: over }]);
    expect((await known({ mayTry: false })).trial).toBeUndefined();
    // The first one was made.
    await write(final(key));
    const due = { deliveryId: 'msg_due', mayTry: true };
    const tries = await Promise.all([{ mayTry: true }, due, { ...due, number: 2 }].map(known));
    tries.push(await known(due));
    const { until = 0 } = tries[0]?.webhook?.pause ?? {};
    expect(until).toBeGreaterThan(Date.now() + 20_000);
    const trial = { until, probeAnswers: true };
    expect(tries.map((each) => each.trial)).toEqual([undefined, trial, undefined, undefined]);
    expect(tries[2]?.webhook?.pause?.until).toBe(until);
    await world.webhooks.release(webhookId, { ...trial, until: until - 1 });
    expect((await known({ mayTry: true })).trial).toBeUndefined();
    await world.webhooks.release(webhookId, trial);
    // One that gives it back.
    expect((await known({ mayTry: true })).trial).toBeDefined();
  });

  it('a disabled webhook is told as the event says it, gets nothing, and is disabled once', async () => {
    const { organizationId, subscriptions, webhooks } = world;
    expect(await webhooks.disable(webhookId, moved, 'gone')).toEqual(ok(undefined));
    const disabling = { webhookId, organizationId, reason: 'gone', disabledAt: expect.any(Number) };
    const disabled = await webhooks.disable(webhookId, url, 'gone');
    expect(disabled).toEqual(ok({ ...disabling, isNew: true }));
    const { isNew: _, ...told } = (disabled.ok && disabled.value) || { isNew: false };
    expect(await subscriptions.findDisabledWebhook(webhookId)).toEqual(ok(told));
    expect((await known()).webhook).toMatchObject({ enabled: false, disabling: told });
    expect(await webhooks.disable(webhookId, url, 'again')).toEqual(ok({ ...told, isNew: false }));
    const event = { id: 'ev-1', organizationId, kind: 'k', text: eventText(organizationId, 'ev-1') };
    const acceptedAt = Date.now() + 60_000;
    const none = { subscribers: [], isRepeat: false };
    expect(await subscriptions.findSubscribers({ event, acceptedAt, messageId: 'm-1' })).toEqual(ok(none));
    expect(await subscriptions.findStoredEvent({ eventId: 'ev-1', webhookId })).toEqual(ok(undefined));
    const other = { eventId: 'ev-1', webhookId: await world.add() };
    const stored = { body: event.text, acceptedAt, unhealthy: false };
    expect(await subscriptions.findStoredEvent(other)).toEqual(ok(stored));
    expect(await subscriptions.findDisabledWebhook(other.webhookId)).toEqual(ok(undefined));
  });
});

describe('on PostgreSQL, batches at once', () => {
  let webhookIds: readonly string[];
  let write: (
    ...results: readonly (readonly [webhookId: string, HealthResult])[]
  ) => ReturnType<AttemptStore['write']>;
  beforeEach(async () => {
    const { add, store } = await implementations.PostgreSQL();
    webhookIds = [await add(), await add()];
    let number = 0;
    write = (...results) =>
      store.write(
        results.map(([webhookId, health]) =>
          final(
            { webhookId, deliveryId: `msg_${webhookId}` },
            { number: ++number, outcome: 'given_up', health },
          ),
        ),
      );
  });

  it('a response waits for the lock of its webhook and counts; silence does not wait, and is left out', async () => {
    const [webhookId = '', unlocked = ''] = webhookIds;
    await write([webhookId, silent]);
    let answering: ReturnType<typeof write> | undefined;
    await region.owner.transaction(async (other) => {
      await other.execute(sql`select url from webhooks where webhook_id = ${webhookId} for update`);
      const skipped = await write([webhookId, silent], [unlocked, silent]);
      expect(skipped).toMatchObject(ok([{ isWritten: true }, { health: { failures: 1 } }]));
      expect(skipped.ok && skipped.value[0]).not.toHaveProperty('health');
      answering = write([webhookId, good]);
      const waiting = () => region.query`
        select pid from pg_locks where locktype = 'transactionid' and not granted`;
      await eventually(async () => (await waiting()).length > 0);
      return ok(null);
    });
    expect(await answering).toMatchObject(ok([{ isWritten: true, health: { failures: 0 } }]));
  });

  it('with the roles of their webhooks crossed, none fails', async () => {
    const [one = '', two = ''] = webhookIds;
    const batches = Array.from({ length: 200 }, (_, index) =>
      index % 2 === 0 ? write([one, good], [two, silent]) : write([two, good], [one, silent]),
    );
    const outcomes = await Promise.all(batches);
    expect(outcomes.filter((outcome) => !outcome.ok)).toEqual([]);
  });

  it("a trial knows whether the environment's own probe gets responses", async () => {
    const [webhookId = ''] = webhookIds;
    await region.query`
      insert into webhooks (webhook_id, organization_id, url)
      select ${probe.webhookId}, organization_id, url from webhooks where webhook_id = ${webhookId}`;
    await write([probe.webhookId, silent]);
    await region.query`
      update webhooks set paused_until = now(), pause_reason = 'no_response', pause_seconds = 30
      where webhook_id = ${webhookId}`;
    const { webhooks } = await implementations.PostgreSQL();
    const found = await webhooks.find({ webhookId, deliveryId: 'msg_1', mayTry: true });
    expect(found).toMatchObject(ok({ trial: { probeAnswers: false } }));
  });
});
