import { deliveryId, parseDelivery } from '../../../domain/delivery';
import { newId } from '../../../domain/ids';
import { fail } from '../../../domain/result';
import type { Database } from '../../../lambda/database/database';
import type { Subscriptions } from '../../../lambda/fan-out-event/fan-out-event';
import { createHandler, type Dependencies } from '../../../lambda/fan-out-event/handler';
import { createSubscriptions } from '../../../lambda/fan-out-event/subscriptions-table';
import { createQueues } from '../../../lambda/webhooks/queue';
import { recordLog } from '../../support/log';
import { type RegionDatabase, startMigratedDatabase } from '../../support/region-database';
import { startTestQueues, type TestQueue, type TestQueues } from '../../support/sqs';
import { addOrganization, addWebhook, disableWebhook, eventText } from '../../support/webhooks';

const log = recordLog();
let database: RegionDatabase;
let functionsDatabase: Database;
let queues: TestQueues;
let events: TestQueue;
let deliveries: TestQueue;
let retries: TestQueue;
let deadLetters: TestQueue;
let organizationId: string;

beforeAll(async () => {
  [database, queues] = await Promise.all([startMigratedDatabase(), startTestQueues()]);
  functionsDatabase = database.as('fan_out_event');
});
beforeEach(async () => {
  log.clear();
  const create = () => queues.create();
  [events, deliveries, retries, deadLetters] = await Promise.all([create(), create(), create(), create()]);
  organizationId = await addOrganization(database.owner);
});
afterAll(() => Promise.all([database.stop(), queues.stop()]));

const queue = (url: string) => createQueues(() => queues.sqs)(url);
const missing = 'http://127.0.0.1:1/000000000000/missing';

type ChangedDependencies = Omit<Partial<Dependencies>, 'ports'> & { ports?: Partial<Dependencies['ports']> };

async function fanOut({ ports, ...change }: ChangedDependencies = {}) {
  const handler = createHandler({
    ports: {
      subscriptions: createSubscriptions(functionsDatabase),
      lanes: { first: queue(deliveries.url), second: queue(retries.url) },
      ...ports,
    },
    events: queue(events.url),
    deadLetters: queue(deadLetters.url),
    log,
    random: () => 0.5,
    ...change,
  });
  const Records = await events.receive();
  const { batchItemFailures } = await handler({ Records });
  return {
    received: Records.length,
    waiting: Records.filter(({ messageId }) =>
      batchItemFailures.some(({ itemIdentifier }) => itemIdentifier === messageId),
    ).map(({ body }) => body),
  };
}

async function delivered() {
  const records = await deliveries.receive();
  return records.map(({ body }) => {
    const delivery = parseDelivery(body);
    if (!delivery.ok) throw new Error(delivery.error);
    return delivery.value;
  });
}

it('creates and logs a delivery for each enabled webhook of the organization that subscribes to the kind', async () => {
  const { owner } = database;
  const all = await addWebhook(owner, organizationId);
  const one = await addWebhook(owner, organizationId, { kinds: ['wallet.created', 'key.created'] });
  await addWebhook(owner, organizationId, { kinds: ['key.created'] });
  await disableWebhook(owner, await addWebhook(owner, organizationId));
  await addWebhook(owner, await addOrganization(owner));
  const text = eventText(organizationId, 'ev-1');
  await events.send(text);

  expect(await fanOut()).toEqual({ received: 1, waiting: [] });
  const made = await delivered();
  expect(made.map(({ webhookId }) => webhookId).sort()).toEqual([all, one].sort());
  for (const delivery of made) {
    expect(delivery).toMatchObject({
      deliveryId: deliveryId('ev-1', delivery.webhookId),
      eventId: 'ev-1',
      body: text,
    });
  }
  const line = {
    logCode: 'EVENT_FANNED_OUT',
    eventId: 'ev-1',
    organizationId,
    kind: 'wallet.created',
    deliveries: 2,
  };
  expect(log.lines).toEqual([{ message: 'Event fanned out', ...line }]);
});

it('sends deliveries to slow or failing webhooks to the second lane', async () => {
  const good = await addWebhook(database.owner, organizationId);
  const unhealthy = await addWebhook(database.owner, organizationId);
  await database.query`update webhooks set unhealthy_at = now() where webhook_id = ${unhealthy}`;
  await events.send(eventText(organizationId, 'ev-1'));
  await fanOut();
  await events.send(JSON.stringify({ redeliver: { eventId: 'ev-1', webhookId: unhealthy } }));
  await fanOut();
  const groups = [deliveries, retries].map((queue) => queue.sent().map(({ group }) => group));
  expect(groups).toEqual([[good], [unhealthy, unhealthy]]);
});

it('sends invalid events to the dead-letter queue with the reason, and processes the others', async () => {
  await addWebhook(database.owner, organizationId);
  const halved = eventText(organizationId, 'ev-2').replace('"amount"', String.raw`"\ud83d"`);
  await events.send('{"id":1}');
  await events.send(halved);
  await events.send(eventText(organizationId, 'ev-1'));

  expect(await fanOut()).toEqual({ received: 3, waiting: [] });
  const refused = await deadLetters.receive();
  expect(new Map(refused.map((each) => [each.body, each.messageAttributes.Reason?.stringValue]))).toEqual(
    new Map([
      ['{"id":1}', 'The event lacks: organizationId, kind, date, data.'],
      [halved, expect.stringContaining('unpaired surrogate')],
    ]),
  );
  expect(await delivered()).toHaveLength(1);
});

describe('retries an event later when', () => {
  beforeEach(async () => {
    await addWebhook(database.owner, organizationId);
    await events.send(eventText(organizationId, 'ev-1'));
  });

  const finding = (findSubscribers: Subscriptions['findSubscribers']) => ({
    ports: { subscriptions: { ...createSubscriptions(functionsDatabase), findSubscribers } },
  });
  const unavailable = async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const);

  it.each<[string, () => ChangedDependencies]>([
    ['the database is unavailable', () => finding(unavailable)],
    [
      'the delivery queue is unavailable',
      () => ({ ports: { lanes: { first: queue(missing), second: queue(missing) } } }),
    ],
    ['a bug throws', () => finding(() => Promise.reject(new Error('bug')))],
  ])('%s, hidden for some seconds', async (_name, change) => {
    expect((await fanOut(change())).waiting).toHaveLength(1);
    expect(await events.count()).toEqual({ visible: 0, hidden: 1, delayed: 0 });
    expect(events.visibilityTimeouts()).toEqual([5]);
    expect(await deadLetters.count()).toEqual({ visible: 0, hidden: 0, delayed: 0 });
    expect(log.lines).toContainEqual(expect.objectContaining({ logCode: 'EVENT_WAITS' }));
  });

  it('the dead-letter queue is unavailable, so that an invalid event is not lost', async () => {
    await events.send('not an event');
    expect((await fanOut({ deadLetters: queue(missing) })).waiting).toEqual(['not an event']);
  });
});

it('looks up the webhooks of all events of a batch in one statement', async () => {
  const { owner } = database;
  const others = await addOrganization(owner);
  const own = await addWebhook(owner, organizationId, { kinds: ['wallet.created'] });
  const foreign = await addWebhook(owner, others);
  await events.send(eventText(organizationId, 'ev-1'));
  await events.send(eventText(others, 'ev-2'));
  await events.send(eventText(await addOrganization(owner), 'ev-3'));
  const execute = jest.fn((statement: Parameters<Database['execute']>[0]) =>
    functionsDatabase.execute(statement),
  );
  const subscriptions = createSubscriptions({ execute });
  expect(await fanOut({ ports: { subscriptions } })).toEqual({ received: 3, waiting: [] });
  expect(execute).toHaveBeenCalledTimes(1);
  const made = (await delivered()).map(({ eventId, webhookId }) => [eventId, webhookId]);
  expect(made.sort()).toEqual([
    ['ev-1', own],
    ['ev-2', foreign],
  ]);
});

describe('a stored event', () => {
  const redeliver = (eventId: string, webhookId: string) =>
    events.send(JSON.stringify({ redeliver: { eventId, webhookId } }));

  it('is redelivered unchanged to one webhook, even if that was disabled before', async () => {
    const webhookId = await addWebhook(database.owner, organizationId);
    await addWebhook(database.owner, organizationId);
    await disableWebhook(database.owner, webhookId);
    const begin = '{ "wei": 12345678901234567890, "zero": "\\u0000", "rest": "';
    const rest = '😀ä'.repeat(10_000);
    // The longest event: with its time, it exceeds the Data API's row limit.
    const room = 65_536 - Buffer.byteLength(`${begin}${rest}"}`);
    const text = `${begin}${rest}${'x'.repeat(room)}"}`;
    const id = `ev-${organizationId}`;
    const acceptedAt = Date.UTC(2026, 10, 20, 12, 0, 0, 7);
    const event = { id, organizationId, kind: 'wallet.created', text };
    await createSubscriptions(functionsDatabase).findSubscribers({ event, acceptedAt });
    await database.query`update webhooks set enabled = true, disabled_reason = null, disabled_at = null, created_at = '2026-01-01'`;

    await redeliver(id, webhookId);
    expect(await fanOut()).toEqual({ received: 1, waiting: [] });
    const common = { webhookId, eventId: id, deliveryId: deliveryId(id, webhookId) };
    expect(await delivered()).toEqual([{ ...common, acceptedAt, body: text }]);
    const line = { logCode: 'EVENT_REDELIVERED', eventId: id, webhookId, deliveries: 1 };
    expect(log.lines).toEqual([{ message: 'Event redelivered', ...line }]);
  });

  it("is not redelivered to a webhook that is disabled, removed, newer, for other kinds or another organization's", async () => {
    const disabled = await addWebhook(database.owner, organizationId);
    await events.send(eventText(organizationId, `ev-${organizationId}`));
    await fanOut();
    await delivered();
    await disableWebhook(database.owner, disabled);
    const others = [
      disabled,
      newId('wh'),
      await addWebhook(database.owner, organizationId, { kinds: ['key.created'] }),
      await addWebhook(database.owner, await addOrganization(database.owner)),
    ];
    for (const webhookId of others) await redeliver(`ev-${organizationId}`, webhookId);
    await redeliver('ev-unknown', others[2] ?? '');
    await redeliver(`ev-${organizationId}`, await addWebhook(database.owner, organizationId));
    expect(await fanOut()).toEqual({ received: 6, waiting: [] });
    expect(await delivered()).toEqual([]);
  });

  it('has a subscribed webhook', async () => {
    await addWebhook(database.owner, organizationId, { kinds: ['key.created'] });
    const ids = [`a-${organizationId}`, `b-${organizationId}`, `b-${organizationId}`];
    for (const [index, id] of ids.entries())
      await events.send(eventText(organizationId, id, index === 0 ? 'wallet.created' : 'key.created'));
    await events.send(eventText(newId('or'), `c-${organizationId}`));
    await fanOut();
    const stored = await database.query`
      select event_id, organization_id, kind from webhook_events where event_id like ${`%${organizationId}`}`;
    expect(stored).toEqual([{ event_id: ids[1], organization_id: organizationId, kind: 'key.created' }]);
  });

  it.each([
    '{"redeliver":null}',
    '{"redeliver":{"eventId":"a.b","webhookId":"wh-1"}}',
    '{"redeliver":{"eventId":1,"webhookId":[]}}',
  ])('is not redelivered by %s, which is sent to the dead-letter queue', async (body) => {
    await events.send(body);
    expect(await fanOut()).toEqual({ received: 1, waiting: [] });
    const [refused] = await deadLetters.receive();
    expect(refused?.messageAttributes.Reason?.stringValue).toContain('"redeliver" must be');
  });
});
