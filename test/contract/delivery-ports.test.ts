import fc from 'fast-check';
import { newId } from '../../domain/ids';
import { probe } from '../../domain/probe';
import { ok } from '../../domain/result';
import { sql } from '../../lambda/database/database';
import { createAttemptStore } from '../../lambda/deliver-webhook/attempts-table';
import { type Health, type HealthResult, trialTime } from '../../lambda/deliver-webhook/health';
import type { AttemptRow, LookedAt } from '../../lambda/deliver-webhook/ports';
import { handOut } from '../../lambda/deliver-webhook/series';
import { createWebhooks } from '../../lambda/deliver-webhook/webhooks-table';
import { createSubscriptions } from '../../lambda/fan-out-event/subscriptions-table';
import { batchRequests } from '../../lambda/shared/batch-requests';
import { SimulatedDatabase } from '../runs/simulate/database';
import { useMigratedDatabase } from '../support/region-database';

const region = useMigratedDatabase();
const [url, moved] = ['https://hooks.example.com/', 'https://moved.example.com/'];
const organizationId = newId('or');
const [one, two] = ['wh-aaaaa-bbbbb-1111111111111111', 'wh-aaaaa-bbbbb-2222222222222222'];
const unknown = newId('wh');

async function openPostgres() {
  for (const table of ['webhook_attempts', 'webhook_events', 'webhooks', 'organizations'])
    await region.owner.execute({ text: [`delete from ${table}`], values: [] });
  await region.query`
    with organization as (insert into organizations (organization_id) values (${organizationId}))
    insert into webhooks (webhook_id, organization_id, url, unhealthy_at, created_at)
    select id, ${organizationId}, ${url}, null, '2020-01-01' from unnest(array[${one}, ${two}]) id`;
  const database = region.as('deliver_webhook');
  return {
    ...createAttemptStore(database),
    ...createWebhooks(database),
    ...createSubscriptions(region.as('fan_out_event')),
    move: (webhookId: string) => region.query`
      update webhooks set url = ${moved} where webhook_id = ${webhookId}`,
  };
}

type Ports = Omit<Awaited<ReturnType<typeof openPostgres>>, 'record'>;

function openSimulation(): Ports {
  const database = new SimulatedDatabase(Date.now);
  for (const webhookId of [one, two]) {
    const webhook = { webhookId, organizationId, url, secretVersion: 1 };
    database.webhooks.set(webhookId, { ...webhook, health: { failures: 0 } });
  }
  return {
    find: batchRequests(async (looks: readonly LookedAt[]) => handOut(database.find(looks)).map(ok)),
    release: async (...claim) => ok(database.release(...claim)),
    disable: async (...webhook) => ok(database.disable(...webhook)),
    write: async (attempts) => ok(await database.write(attempts)),
    set: async (changes) => ok(await database.set(changes)),
    findSubscribers: async (event) => ok(database.findSubscribers(event)),
    findStoredEvent: async (event) => ok(database.findStoredEvent(event)),
    findDisabledWebhook: async (webhookId) => ok(database.findDisabledWebhook(webhookId)),
    async move(webhookId) {
      Object.assign(database.webhooks.get(webhookId) ?? {}, { url: moved });
      return [];
    },
  };
}

const silent: HealthResult = { url, unhealthy: true, answered: false, silent: true, askedMs: 0 };
const slow: HealthResult = { ...silent, silent: false };
const good: HealthResult = { ...slow, unhealthy: false, answered: true };
const attemptedAt = Date.UTC(2036, 10, 20);
const row = { eventId: 'ev-1', reason: 'timeout', attempt: 1, attemptedAt, durationMs: 0 } as const;
const lastOf = (webhookId: string, number: number, health: HealthResult): AttemptRow => {
  const ids = { webhookId, deliveryId: webhookId, series: '' };
  return { ...row, ...ids, number, outcome: 'given_up', health };
};

// Few values, so that they meet.
const webhookId = fc.constantFrom(one, one, two, unknown);
const someUrl = fc.constantFrom(url, url, moved);
const ids = { webhookId, deliveryId: fc.constantFrom('msg_1', 'msg_1', 'msg_2') };
const place = { series: fc.constantFrom('', '', 'again', 'more'), number: fc.constantFrom(1, 1, 2, 3) };
const some = <Item>(item: fc.Arbitrary<Item>) => fc.array(item, { minLength: 1, maxLength: 4 });
const attempt = fc.record({
  ...ids,
  ...place,
  copy: fc.constantFrom('a', 'b'),
  attemptedAt: fc.constantFrom(attemptedAt - 10, attemptedAt, attemptedAt + 9),
  durationMs: fc.constantFrom(0, 9, 10),
  outcome: fc.constantFrom('failed', 'delivered', 'delivered', 'given_up'),
  health: fc.constantFrom(undefined, silent, silent, slow, good),
  url: someUrl,
});
const successorOf = (attempt: number) => ({ attempt, notBefore: attemptedAt });
const pause = fc.record({
  reason: fc.constantFrom('no_response', 'retry_after'),
  until: fc.constantFrom(Date.UTC(2020, 0), Date.UTC(2036, 0, 1, 0, 0, 0, 7)),
  length: fc.constantFrom(30_000, 60_000),
});
const health: fc.Arbitrary<Health> = fc.record(
  { failures: fc.nat(2), unhealthyAt: fc.constantFrom(attemptedAt, attemptedAt + 1), pause },
  { requiredKeys: ['failures'] },
);
const look = fc.record(
  { ...ids, ...place, mayTry: fc.boolean() },
  { requiredKeys: ['webhookId', 'deliveryId'] },
);
const reason = fc.constantFrom('gone', 'x');
const event = fc.record({ id: fc.constantFrom('ev-1', 'ev-2'), text: fc.constantFrom('{}', '[]') });
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ write: some(attempt) }) },
  { weight: 3, arbitrary: fc.record({ set: webhookId, url: someUrl, from: fc.option(health), to: health }) },
  { weight: 3, arbitrary: fc.record({ find: some(look) }) },
  { weight: 2, arbitrary: fc.record({ accept: some(event), messageId: fc.constantFrom('m-1', 'm-2') }) },
  { weight: 1, arbitrary: fc.record({ release: webhookId, until: fc.constantFrom(0, 1) }) },
  { weight: 1, arbitrary: fc.record({ disable: webhookId, url: someUrl, reason }) },
  { weight: 1, arbitrary: fc.record({ move: webhookId }) },
);
type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;

/** What the ports return for each act, and then on everything. */
async function tell(acts: readonly Act[], ports: Ports): Promise<unknown> {
  const began = Date.now();
  let claimed = 0;
  const known = new Map<string, Health>();
  const write = async (rows: readonly AttemptRow[]) => {
    const written = await ports.write(rows);
    for (const [index, { health }] of (written.ok ? written.value : []).entries())
      if (health) known.set(rows[index]?.webhookId ?? '', health);
    return written;
  };
  const find = async (looks: readonly LookedAt[]) => {
    const found = await Promise.all(looks.map(ports.find));
    for (const each of found) if (each.ok && each.value.trial) claimed = each.value.trial.until;
    return found;
  };
  const run = (each: Act): Promise<unknown> => {
    if ('write' in each)
      return write(
        each.write.map(({ health, url, ...attempt }) => ({
          ...row,
          ...attempt,
          ...(attempt.outcome === 'failed' && { successor: successorOf(attempt.number) }),
          ...(health && { health: { ...health, url } }),
        })),
      );
    if ('set' in each) {
      const from = each.from ?? known.get(each.set) ?? { failures: 0 };
      return ports.set([{ webhookId: each.set, url: each.url, from, to: each.to }]);
    }
    if ('find' in each) return find(each.find);
    if ('accept' in each) {
      const accepted = { acceptedAt: attemptedAt, messageId: each.messageId };
      const accept = (event: object) => ({ ...accepted, event: { organizationId, kind: 'k', ...event } });
      return Promise.all(each.accept.map((event) => ports.findSubscribers(accept(event) as never)));
    }
    if ('disable' in each) {
      const disable = (reason: string) => ports.disable(each.disable, each.url, reason);
      return disable(each.reason).then(async (first) => [first, await disable('again')]);
    }
    if ('move' in each) return ports.move(each.move);
    return ports
      .release(each.release, { until: claimed - each.until, probeAnswers: true })
      .then(() => 'released');
  };
  const told: unknown[] = [];
  for (const each of acts) told.push(await run(each));
  const looks = ['msg_1', 'msg_2'].flatMap((deliveryId) =>
    ['', 'again', 'more'].map((series) => ({ webhookId: one, deliveryId, series })),
  );
  told.push(await find([...looks, { webhookId: two, deliveryId: 'msg_1' }]));
  for (const [number, health] of [slow, { ...slow, url: moved }].entries())
    told.push(await write([one, two].map((webhookId) => lastOf(webhookId, number, health))));
  told.push(await ports.findStoredEvent({ eventId: 'ev-1', webhookId: one }));
  told.push(await ports.findDisabledWebhook(one));
  const text = JSON.stringify(told, (key, value) => {
    // Those of the simulation say more.
    if (key === 'webhook') return { ...value, webhookId: undefined, organizationId: undefined };
    const isTime = (wait: number) =>
      typeof value === 'number' && value >= began + wait && value <= Date.now() + wait;
    return [0, trialTime].find(isTime) ?? value;
  });
  return JSON.parse(text);
}

it('the simulation answers as PostgreSQL does', async () => {
  const property = fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 12 }), async (acts) => {
    expect(await tell(acts, openSimulation())).toEqual(await tell(acts, await openPostgres()));
  });
  await fc.assert(property, { numRuns: 40, seed: 1 });
});

describe('on PostgreSQL, batches at once', () => {
  let ports: Awaited<ReturnType<typeof openPostgres>>;
  beforeEach(async () => {
    ports = await openPostgres();
  });
  let number = 0;
  const write = (...results: readonly (readonly [webhookId: string, HealthResult])[]) =>
    ports.write(results.map(([webhookId, health]) => lastOf(webhookId, ++number, health)));

  it('a response waits for the lock of its webhook and counts; silence does not wait, and is left out', async () => {
    await write([one, silent]);
    let answering: ReturnType<typeof write> | undefined;
    await region.owner.transaction(async (other) => {
      await other.execute(sql`select url from webhooks where webhook_id = ${one} for update`);
      const skipped = await write([one, silent], [two, silent]);
      expect(skipped).toMatchObject(ok([{ isWritten: true }, { health: { failures: 1 } }]));
      expect(skipped.ok && skipped.value[0]).not.toHaveProperty('health');
      answering = write([one, good]);
      await region.untilBlocked();
      return ok(null);
    });
    expect(await answering).toMatchObject(ok([{ isWritten: true, health: { failures: 0 } }]));
  });

  it('with the roles of their webhooks crossed, none fails', async () => {
    const batches = Array.from({ length: 200 }, (_, index) =>
      index % 2 === 0 ? write([one, good], [two, silent]) : write([two, good], [one, silent]),
    );
    expect((await Promise.all(batches)).filter((outcome) => !outcome.ok)).toEqual([]);
  });

  it("a trial knows whether the environment's own probe gets responses", async () => {
    await region.query`
      insert into webhooks (webhook_id, organization_id, url) values (${probe.webhookId}, ${organizationId}, ${url})`;
    await write([probe.webhookId, silent]);
    await region.query`
      update webhooks set paused_until = now(), pause_reason = 'no_response', pause_seconds = 30
      where webhook_id = ${one}`;
    const found = await ports.find({ webhookId: one, deliveryId: 'msg_1', mayTry: true });
    expect(found).toMatchObject(ok({ trial: { probeAnswers: false } }));
  });
});
