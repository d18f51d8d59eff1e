import { deliveryId, parseDelivery } from '../../../domain/delivery';
import { disabledEvent } from '../../../domain/event';
import { newId } from '../../../domain/ids';
import { probe } from '../../../domain/probe';
import { ok } from '../../../domain/result';
import type { Database } from '../../../lambda/database/database';
import type { Subscriptions } from '../../../lambda/fan-out-event/fan-out-event';
import { createHandler } from '../../../lambda/fan-out-event/handler';
import { createSubscriptions } from '../../../lambda/fan-out-event/subscriptions-table';
import type { TestQueue } from '../../support/sqs';
import { addOrganization, addWebhook, disableWebhook, eventText } from '../../support/webhooks';
import { missing, usePipeline } from '../pipeline';

const world = usePipeline();
let database: Database;
let subscriptions: Subscriptions;
beforeAll(() => {
  database = world.database.as('fan_out_event');
  subscriptions = createSubscriptions(database);
});

function fanOut(deadLetters = world.deadLetters.url) {
  const handler = createHandler({
    ports: { subscriptions, queues: world.queues(), newToken: () => 'token' },
    events: world.queue(world.events.url),
    deadLetters: world.queue(deadLetters),
    log: world.log,
    random: () => 0.5,
  });
  return world.consume(world.events, handler);
}

const sendEvent = (id: string, organizationId = world.organizationId) =>
  world.events.send(eventText(organizationId, id));
const redeliver = (eventId: string, webhookId: string, series?: string) =>
  world.events.send(JSON.stringify({ redeliver: { eventId, webhookId, series } }));

const delivered = (queue: TestQueue) => queue.sent().map(({ body }) => Object(parseDelivery(body)).value);
/** The dead letters, each with the reason, in the order of their text. */
const refused = async () => {
  const letters = await world.deadLetters.receive();
  return letters.map(({ body, messageAttributes: { Reason } }) => [body, Reason?.stringValue]).sort();
};
/** Its last attempts were slow or failed. */
const markUnhealthy = (webhookId: string) =>
  world.database.query`update webhooks set unhealthy_at = now() where webhook_id = ${webhookId}`;

it('creates a delivery, in its queue, for each enabled webhook of the organization that subscribes to the kind, and stores the event if there is one', async () => {
  const { organizationId } = world;
  const { owner } = world.database;
  const all = await world.addWebhook();
  const unhealthy = await world.addWebhook({ kinds: ['wallet.created', 'key.created'] });
  await markUnhealthy(unhealthy);
  await world.addWebhook({ kinds: ['key.created'] });
  await disableWebhook(owner, await world.addWebhook());
  const others = await addOrganization(owner);
  const foreign = await addWebhook(owner, others);
  await sendEvent('ev-1');
  await sendEvent('ev-2', others);
  const another = await addOrganization(owner);
  await sendEvent('ev-3', another);

  const execute = jest.spyOn(database, 'execute');
  const sentBefore = Date.now();
  const anHourLater = jest.spyOn(Date, 'now').mockReturnValue(sentBefore + 3_600_000);
  expect(await fanOut()).toEqual({ received: 3, failed: 0 });
  expect(execute).toHaveBeenCalledTimes(1);
  for (const mocked of [execute, anHourLater]) mocked.mockRestore();
  for (const { acceptedAt } of delivered(world.deliveries)) expect(acceptedAt).toBeLessThan(sentBefore + 1);
  const ids = { deliveryId: deliveryId('ev-1', all), webhookId: all, eventId: 'ev-1' };
  const body = eventText(organizationId, 'ev-1');
  const second = { eventId: 'ev-2', webhookId: foreign };
  expect(delivered(world.deliveries)).toMatchObject([{ ...ids, body }, second]);
  expect(delivered(world.retries)).toMatchObject([{ eventId: 'ev-1', webhookId: unhealthy }]);
  const line = { logCode: 'EVENT_FANNED_OUT', eventId: 'ev-1', organizationId, kind: 'wallet.created' };
  expect(world.log.lines).toContainEqual({ message: 'Event fanned out', ...line, deliveries: 2 });
  const stored = await world.database.query`
    select event_id, kind, body from webhook_events
    where organization_id in (${organizationId}, ${others}, ${another}) order by event_id`;
  expect(stored).toMatchObject([{ event_id: 'ev-1', kind: 'wallet.created', body }, { event_id: 'ev-2' }]);
});

it('sends invalid events to the dead-letter queue with the reason, or keeps them while it is unavailable', async () => {
  await world.addWebhook();
  const redelivery = '{"redeliver":{"eventId":"ev-1","webhookId":"wh-1"}}';
  for (const body of ['{"id":1}', redelivery]) await world.events.send(body);
  await sendEvent('ev-1');
  expect(await fanOut()).toEqual({ received: 3, failed: 0 });
  expect(delivered(world.deliveries)).toHaveLength(1);
  expect(await refused()).toEqual([
    ['{"id":1}', 'The event lacks: organizationId, kind, date, data.'],
    [redelivery, '"redeliver" must be {"eventId","webhookId","series"}.'],
  ]);
  await world.events.send('not an event');
  expect(await fanOut(missing)).toEqual({ received: 1, failed: 1 });
});

it('refuses events of our kinds, and drops a webhook.disabled that the database does not confirm', async () => {
  const { organizationId } = world;
  const webhookId = await world.addWebhook();
  const listener = await world.addWebhook();
  const disabledAt = Date.UTC(2026, 10, 20, 12, 0, 0, 7);
  const event = (change = {}) =>
    disabledEvent({ webhookId, organizationId, reason: 'gone', disabledAt, ...change }).text;
  // While it is enabled, also for a webhook that does not exist.
  const ours = ['webhook.test', probe.kind].map((kind) => eventText(organizationId, 'ev-1', kind));
  const neverDisabled = event({ reason: 'null', disabledAt: 0 });
  const unconfirmed = [event(), neverDisabled, event({ webhookId: newId('wh') })];
  for (const body of [...unconfirmed, ...ours]) await world.events.send(body);
  await fanOut();

  await world.database.query`
    update webhooks set enabled = false, disabled_reason = 'gone', disabled_at = ${new Date(disabledAt).toISOString()}::timestamptz
    where webhook_id = ${webhookId}`;
  const other = { organizationId: await addOrganization(world.database.owner) };
  const altered = [{ reason: 'operator' }, { disabledAt: disabledAt + 1 }, other].map(event);
  altered.push(event().replace('"reason"', '"url":"https://x.example","reason"'));
  for (const body of [...altered, event()]) await world.events.send(body);
  expect(await fanOut()).toEqual({ received: 5, failed: 0 });
  expect(delivered(world.deliveries)).toMatchObject([{ webhookId: listener, body: event() }]);
  const reason = 'Kinds that begin with "webhook." are reserved.';
  expect(await refused()).toEqual(ours.map((body) => [body, reason]).sort());
  const dropped = world.log.lines.filter(({ logCode }) => logCode === 'EVENT_UNCONFIRMED');
  const line = { message: 'Event dropped', messageId: expect.any(String), kind: 'webhook.disabled' };
  expect(dropped).toMatchObject([...unconfirmed, ...altered].map(() => line));
});

it('redelivers a stored event unchanged to one webhook, even if that was disabled before, and none to a webhook that does not get it', async () => {
  const { organizationId } = world;
  const webhookId = await world.addWebhook();
  await world.addWebhook();
  await markUnhealthy(webhookId);
  await disableWebhook(world.database.owner, webhookId);
  // The longest event: with its time, it exceeds the Data API's row limit.
  const rest = '😀ä'.repeat(10_000).padEnd(35_476);
  const body = `{ "wei": 12345678901234567890, "zero": "\\u0000", "rest": "${rest}"}`;
  expect(Buffer.byteLength(body)).toBe(65_536);
  const [eventId, acceptedAt] = [`ev-${organizationId}`, Date.UTC(2026, 10, 20, 12, 0, 0, 7)];
  const event = { id: eventId, organizationId, kind: 'wallet.created', text: body };
  await subscriptions.findSubscribers({ event, acceptedAt, messageId: 'm-1' });
  await world.database.query`
    update webhooks set enabled = true, disabled_reason = null, disabled_at = null, created_at = '2026-01-01'`;

  await redeliver(eventId, webhookId, 'own');
  expect(await fanOut()).toEqual({ received: 1, failed: 0 });
  const ids = { webhookId, eventId, deliveryId: deliveryId(eventId, webhookId) };
  const chain = { series: 'own', number: 1, copy: 'token' };
  expect(delivered(world.retries)).toEqual([{ ...ids, ...chain, acceptedAt, body }]);
  const line = { logCode: 'EVENT_REDELIVERED', eventId, webhookId, series: 'own', deliveries: 1 };
  expect(world.log.lines).toEqual([{ message: 'Event redelivered', ...line }]);

  // Disabled, removed, for other kinds, another organization's, or newer.
  const { owner } = world.database;
  const disabled = await world.addWebhook();
  await disableWebhook(owner, disabled);
  const otherKinds = await world.addWebhook({ kinds: ['key.created'] });
  const foreign = await addWebhook(owner, await addOrganization(owner));
  await world.database.query`update webhooks set created_at = '2026-01-01'`;
  const none = [disabled, newId('wh'), otherKinds, foreign, await world.addWebhook()];
  for (const each of none) await redeliver(eventId, each);
  await redeliver('ev-unknown', webhookId);
  expect(await fanOut()).toEqual({ received: 6, failed: 0 });
  expect([world.retries.sent(), world.deliveries.sent()]).toMatchObject([[{}], []]);
});

it('an event that its producer sends again waits a minute, in the queue of its webhook, also while another batch stores it', async () => {
  const { organizationId } = world;
  const id = `ev-${organizationId}`;
  const first = eventText(organizationId, id);
  const second = first.replace('"amount":1', '"amount":2');
  await world.addWebhook();
  await markUnhealthy(await world.addWebhook());
  let fanningOut: ReturnType<typeof fanOut> | undefined;
  await world.database.owner.transaction(async (other) => {
    const event = { id, organizationId, kind: 'wallet.created', text: first };
    await createSubscriptions(other).findSubscribers({ event, acceptedAt: Date.now(), messageId: 'm-1' });
    await world.events.send(second);
    fanningOut = fanOut();
    await world.database.untilBlocked();
    return ok(null);
  });
  await fanningOut;
  // Of several in a batch, the first is stored and does not wait.
  const another = first.replaceAll(id, `${id}-2`);
  for (const text of [first, another, another]) await world.events.send(text);
  await fanOut();
  for (const queue of [world.deliveries, world.retries]) {
    const delays = queue.sent().map(({ delaySeconds }) => delaySeconds);
    expect(delivered(queue).map(({ body }, index) => [body, delays[index]])).toEqual([
      [second, 60],
      [first, 60],
      [another, 0],
      [another, 60],
    ]);
  }
  const stored = await world.database.query`select body from webhook_events where event_id = ${id}`;
  expect(stored).toEqual([{ body: first }]);
});
