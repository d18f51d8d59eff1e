import { parseEvent } from '../../domain/event';
import { probe } from '../../domain/probe';
import { fail, ok } from '../../domain/result';
import type { Database } from '../../lambda/database/database';
import { createHandler as createProbe } from '../../lambda/probe-webhooks/handler';
import { createHandler as createPurge, timeout } from '../../lambda/purge-expired/handler';
import { recordLog } from '../support/log';
import { useMigratedDatabase } from '../support/region-database';

const log = recordLog();
const region = useMigratedDatabase();
beforeEach(() => log.clear());
const purge = (database: Database, batchSize = 10, now = Date.now) =>
  createPurge({ database, log, now, batchSize })(undefined);

it('the purge deletes any number of attempts after 31 days, events after 14, and used user actions an hour after they expire', async () => {
  await region.query`
    with attempt as (
      insert into webhook_attempts
        (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason)
      select 'ev-1', 'wh-1', 'msg_1', now() - age, 1, 200, 'delivered', 'ok'
      from (values (interval '31 days 1 second', 25), ('30 days 23 hours', 2)) attempt (age, number),
        generate_series(1, number)
    ), event as (
      insert into webhook_events (event_id, organization_id, kind, accepted_at, body)
      values ('old', 'or-1', 'wallet.created', now() - interval '14 days 1 second', '{}'),
        ('young', 'or-1', 'wallet.created', now() - interval '13 days 23 hours', '{}')
    )
    insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
    values ('expired', 'or-1', 'us-1', 'request-1', now() - interval '61 minutes'),
      ('just expired', 'or-1', 'us-1', 'request-1', now() - interval '59 minutes')`;
  await purge(region.as('purge_expired'));
  const left = await region.query`
    select (select string_agg(event_id, ' ') from webhook_events) as events,
      (select count(*)::integer from webhook_attempts) as attempts,
      (select string_agg(user_action_id, ' ') from used_user_actions) as actions`;
  expect(left).toEqual([{ events: 'young', attempts: 2, actions: 'just expired' }]);
  const purged = { webhookAttempts: 25, webhookEvents: 1, usedUserActions: 1 };
  expect(log.lines).toMatchObject([{ ...purged, oldestExpiredSeconds: 0 }]);
});

it('the purge deletes from each table in turn, from the last deleted row on, and says at its deadline how far it is behind', async () => {
  await region.query`
    insert into webhook_attempts (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason)
    select 'ev-1', 'wh-1', 'msg_1', now() - interval '32 days' + number * interval '1 hour', 1, 200, 'delivered', 'ok'
    from generate_series(0, 9) number`;
  let statements = 0;
  const values: unknown[] = [];
  const database = region.as('purge_expired');
  const execute: Database['execute'] = (statement) => {
    statements += 1;
    values.push(statement.values[0]);
    return database.execute(statement);
  };
  await purge({ execute }, 2, () => (statements < 5 ? 0 : timeout));
  expect(values).toEqual([...Array(3).fill('-infinity'), ...Array(2).fill(expect.stringMatching(/^\d{4}-/))]);
  expect(new Set(values).size).toBe(3);
  const [{ webhookAttempts, oldestExpiredSeconds } = {}] = log.lines as Record<string, number>[];
  // Three batches of two delete six of ten rows. The first expired a day ago, the last that was deleted 19 hours ago.
  expect(webhookAttempts).toBe(6);
  expect(Math.abs(Number(oldestExpiredSeconds) - 19 * 3_600)).toBeLessThan(60);
});

const checkUrl = 'https://api.customer.com/webhook-origins/check';

async function probeOnce(database: Database = region.as('probe_webhooks')) {
  const send = jest.fn(async (_messages: readonly { readonly body: string }[]) => ok(null));
  await createProbe({ database, events: { send, hide: jest.fn() }, checkUrl, log })({});
  expect(send.mock.calls).toEqual([[[expect.anything()]]]);
  return parseEvent(send.mock.calls[0]?.[0][0]?.body ?? '');
}
it('the probe makes its webhook, puts it right whatever was done to it, and sends an event of a new id for it alone', async () => {
  const expected = {
    organization_id: probe.organizationId,
    webhook_id: probe.webhookId,
    kinds: `{${probe.kind}}`,
    url: `${checkUrl}/${probe.webhookId}`,
    enabled: true,
    secret_version: 1,
    ephemeral: false,
  };
  for (const change of [
    'select',
    `update webhooks set url = 'https://hooks.customer.com/', kinds = null`,
    'update webhooks set secret_version = 2, rotated_at = now()',
    `update webhooks set enabled = false, disabled_reason = 'operator', disabled_at = now()`,
    'delete from webhooks',
  ]) {
    await region.owner.execute({ text: [change], values: [] });
    const [first, second] = await Promise.all([probeOnce(), probeOnce()]);
    const { organizationId, kind } = probe;
    expect(first).toMatchObject({ value: { organizationId, kind } });
    expect(second).not.toMatchObject({ value: { id: Object(first).value.id } });
    const found = await region.query`
      select organization_id, webhook_id, url, kinds::text as kinds, enabled, secret_version, ephemeral
      from webhooks join organizations using (organization_id)`;
    expect(found).toEqual([expected]);
  }
});

it('both fail while the database is unavailable, and the probe sends nothing; it also fails without the queue', async () => {
  const execute = async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
  await expect(probeOnce({ execute })).rejects.toThrow('The database is unavailable: timeout.');
  await expect(purge({ execute })).rejects.toThrow('not available: timeout');
  const send = async () => fail({ kind: 'queue_unavailable', reason: 'timeout' } as const);
  const withoutQueue = { database: region.as('probe_webhooks'), events: { send, hide: send }, checkUrl, log };
  await expect(createProbe(withoutQueue)({})).rejects.toThrow('The events queue is unavailable: timeout.');
});
