import { parseEvent } from '../../../domain/event';
import { fail } from '../../../domain/result';
import { sql } from '../../../lambda/database/sql';
import type { DeliveryPorts, Webhooks } from '../../../lambda/deliver-webhook/deliver-webhook';
import { disableWebhook } from '../../support/webhooks';
import { useDeliveryWorld } from './delivery-world';

const world = useDeliveryWorld();
let webhookId: string;
beforeEach(async () => {
  webhookId = await world.addWebhook();
  world.answer = { status: 410 };
});

/** What the events queue holds. */
const told = async () => (await world.events.receive()).map(({ body }) => JSON.parse(body));
/** As if the webhook had been disabled so many seconds earlier. */
const age = (seconds: number) =>
  world.database.query`
    update webhooks set disabled_at = disabled_at - make_interval(secs => ${seconds}::float8)
    where webhook_id = ${webhookId}`;
/** A batch in which the function is killed, or something is away, where the port is called. */
const runWith = (change: { ports?: Partial<DeliveryPorts>; webhooks?: Partial<Webhooks> }) =>
  world.runBatch({ ports: { ...change.ports, webhooks: { ...world.webhooks, ...change.webhooks } } });
const killed = () => Promise.reject(new Error('killed'));
const away = async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const);

it('410 tells the organization by one event, a log line and a metric, without the URL', async () => {
  await world.sendDelivery(webhookId);
  const { kept, emitted } = await world.runBatch();
  expect(kept).toBe(0);
  const [record, ...others] = await world.events.receive();
  expect(others).toEqual([]);
  const { organizationId } = world;
  const event = parseEvent(record?.body ?? '');
  expect(event).toMatchObject({ ok: true, value: { organizationId, kind: 'webhook.disabled' } });
  const { id, date, data } = JSON.parse(record?.body ?? '');
  expect(id).toMatch(/^evt_[0-9a-f]{32}$/);
  expect(Math.abs(Date.now() - Date.parse(date))).toBeLessThan(10_000);
  expect(data).toEqual({ webhookId, reason: 'gone' });
  expect(record?.body).not.toContain(new URL(world.url).pathname);
  const line = { logCode: 'WEBHOOK_DISABLED', webhookId, organizationId, reason: 'gone', eventId: id };
  expect(world.log.lines).toContainEqual({ message: 'Webhook disabled', ...line });
  expect(emitted.join()).toContain('"Disabled":1');
});

it('is told once of several deliveries, and not again by those that follow', async () => {
  for (const eventId of ['ev-1', 'ev-2', 'ev-3']) await world.sendDelivery(webhookId, { eventId });
  expect(await world.runBatch()).toMatchObject({ received: 3, kept: 0 });
  expect(await told()).toHaveLength(1);
  await age(1_000);
  await world.sendDelivery(webhookId, { eventId: 'ev-4' });
  expect(await world.runBatch()).toMatchObject({ kept: 0 });
  expect(await told()).toEqual([]);
  expect(world.requests).toHaveLength(3);
});

it.each<[string, Parameters<typeof runWith>[0]]>([
  ['the function is killed before it tells', { ports: { events: { send: killed } } }],
  [
    'the queue of events is away',
    { ports: { events: { send: async () => fail({ kind: 'queue_unavailable', reason: 'x' }) } } },
  ],
  ['the answer to the update is lost', { webhooks: { disable: lostAnswer } }],
])('is told later when %s: its message stays, and those of the webhook wait for it', async (_, change) => {
  await world.sendDelivery(webhookId);
  expect(await runWith(change)).toMatchObject({ kept: 1 });
  expect(await told()).toEqual([]);

  await world.sendDelivery(webhookId);
  expect(await world.runBatch()).toMatchObject({ kept: 1 });
  expect(await told()).toEqual([]);
  expect(world.log.lines).toContainEqual(expect.objectContaining({ cause: 'disabling_being_told' }));

  await age(76);
  await world.sendDelivery(webhookId);
  expect(await world.runBatch()).toMatchObject({ kept: 0 });
  expect(await told()).toMatchObject([{ kind: 'webhook.disabled', data: { webhookId } }]);
  expect(world.requests).toHaveLength(1);
});

async function lostAnswer(...args: Parameters<Webhooks['disable']>) {
  await world.webhooks.disable(...args);
  return away();
}

it('is told with the same id when the function is killed before it remembers', async () => {
  await world.sendDelivery(webhookId);
  expect(await runWith({ webhooks: { told: killed } })).toMatchObject({ kept: 1 });
  const [first] = await told();
  // The time of the disabling is part of the id: what is due is said, not aged.
  await world.sendDelivery(webhookId);
  const due = async (id: string) => {
    const found = await world.webhooks.find(id);
    if (found.ok && found.value?.untold)
      return { ...found, value: { ...found.value, untold: { ...found.value.untold, due: true } } };
    return found;
  };
  expect(await runWith({ webhooks: { find: due } })).toMatchObject({ kept: 0 });
  expect(await told()).toEqual([first]);
});

it('tells nothing of what a release before this one disabled', async () => {
  await disableWebhook(world.database.owner, webhookId);
  await world.sendDelivery(webhookId);
  expect(await world.runBatch()).toMatchObject({ kept: 0 });
  expect(await told()).toEqual([]);
});

it('tells what an operator disabled when the command could not, without a metric', async () => {
  await world.database.owner.execute(sql`
    update webhooks set enabled = false, disabled_reason = 'operator', disabling_untold = true,
      disabled_at = date_trunc('milliseconds', now()) - interval '76 seconds'
    where webhook_id = ${webhookId}`);
  await world.sendDelivery(webhookId);
  const { emitted } = await world.runBatch();
  expect(await told()).toMatchObject([{ data: { reason: 'operator' } }]);
  expect(emitted.join()).not.toContain('Disabled');
});
