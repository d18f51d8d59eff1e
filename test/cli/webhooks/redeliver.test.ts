import { parseRedelivery } from '../../../domain/event';
import { sql } from '../../../lambda/database/sql';
import { rows } from '../../support/organization';
import { addOrganization, addWebhook, disableWebhook } from '../../support/webhooks';
import { startWebhookRegion, type WebhookRegion } from './webhook-region';

let region: WebhookRegion;
let organizationId: string;
let webhookId: string;
beforeAll(async () => {
  region = await startWebhookRegion();
});
beforeEach(async () => {
  await region.emptyQueues();
  organizationId = await addOrganization(region.owner);
  webhookId = await addWebhook(region.owner, organizationId);
  await rows(region.owner, sql`update webhooks set created_at = now() - interval '1 day'`);
});
afterAll(() => region.stop());

/** Keeps so many events, the first one of so long ago, a millisecond apart. */
async function keep(count: number, minutesAgo = 10): Promise<string[]> {
  const kept = await rows(
    region.owner,
    sql`
      insert into webhook_events (event_id, organization_id, kind, accepted_at, body)
      select ${organizationId} || '_' || number, ${organizationId}, 'wallet.created',
        date_trunc('milliseconds', now()) + make_interval(mins => ${-minutesAgo}::integer, secs => number::float8 / 1000), '{}'
      from generate_series(1, ${count}::integer) number
      returning event_id`,
  );
  return kept.map(({ event_id }) => String(event_id));
}

/** The events that were asked for, as the fan-out reads them. */
async function asked(): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const messages = await region.events.receive();
    if (messages.length === 0) return ids;
    for (const { body } of messages) {
      const read = parseRedelivery(body);
      if (!read?.ok) throw new Error(`not a redelivery: ${body}`);
      expect(read.value.webhookId).toBe(webhookId);
      ids.push(read.value.eventId);
    }
  }
}
const again = (...args: string[]) => region.json('redeliver', '--webhook', webhookId, ...args);

it('asks for one event', async () => {
  const [eventId = ''] = await keep(2);
  expect(await again('--event', eventId)).toEqual({ redelivered: 1, dryRun: false, interrupted: false });
  expect(await asked()).toEqual([eventId]);
});

it('asks for all since a time, as many as are asked for, and for none in a dry run', async () => {
  const ids = await keep(12);
  expect(await again('--since', '5m')).toMatchObject({ redelivered: 0 });
  expect(await again('--since', '1h', '--dry-run')).toMatchObject({ redelivered: 12, dryRun: true });
  expect(await asked()).toEqual([]);
  expect(await again('--since', '1h', '--limit', '11')).toMatchObject({ redelivered: 11 });
  expect((await asked()).sort()).toEqual(ids.slice(0, 11).sort());
});

it('asks for each once, however many pages there are', async () => {
  await keep(2_005, 60);
  expect(await again('--since', '2h')).toMatchObject({ redelivered: 2_005 });
  expect(new Set(await asked()).size).toBe(2_005);
});

it('leaves out on request what was delivered', async () => {
  const [delivered, other] = await keep(2);
  await rows(
    region.owner,
    sql`
      insert into webhook_attempts (event_id, webhook_id, delivery_id, attempted_at, duration_ms, outcome, reason)
      values (${delivered ?? ''}, ${webhookId}, 'msg_1', now(), 1, 'delivered', 'ok')`,
  );
  expect(await again('--since', '1h', '--undelivered')).toMatchObject({ redelivered: 1 });
  expect(await asked()).toEqual([other]);
});

it('leaves out what is older than the webhook', async () => {
  const [eventId = ''] = await keep(1);
  await rows(region.owner, sql`update webhooks set created_at = now() where webhook_id = ${webhookId}`);
  expect(await again('--since', '1h')).toMatchObject({ redelivered: 0 });
  const refused = await region.wallet('redeliver', '--webhook', webhookId, '--event', eventId);
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
  expect(await asked()).toEqual([]);
});

it('fails for an event that is not kept, and for a disabled webhook', async () => {
  const [eventId = ''] = await keep(1);
  const run = (...args: string[]) => region.wallet('redeliver', '--webhook', webhookId, ...args);
  const unknown = await run('--event', 'evt_unknown');
  expect(unknown).toMatchObject({ exitCode: 1, stdout: '' });
  expect(unknown.stderr).toContain(`No event evt_unknown that ${webhookId} wants is kept`);
  await disableWebhook(region.owner, webhookId);
  const disabled = await run('--event', eventId);
  expect(disabled).toMatchObject({ exitCode: 1, stdout: '' });
  expect(disabled.stderr).toContain(`webhook enable --webhook ${webhookId}`);
  expect(await asked()).toEqual([]);
});

it.each([
  [['--since', '1h']],
  [['--webhook', 'wh-aaaaa-bbbbb-cccccccccccccccc']],
  [['--webhook', 'wh-aaaaa-bbbbb-cccccccccccccccc', '--event', 'evt_1', '--since', '1h']],
  [['--webhook', 'wh-aaaaa-bbbbb-cccccccccccccccc', '--event', 'evt_1', '--undelivered']],
])('is used wrongly with %j', async (args) => {
  expect(await region.wallet('redeliver', ...args)).toMatchObject({ exitCode: 2, stdout: '' });
});
