import { Client } from 'pg';
import { newId } from '../../../domain/ids';
import { ok } from '../../../domain/result';
import type { Database } from '../../../lambda/database/database';
import { toQuery } from '../../../lambda/database/direct';
import { deletionStatement } from '../../../lambda/delete-user-group/delete-in-database';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { createSubscriptions } from '../../../lambda/fan-out-event/subscriptions-table';
import { createHandler as createPurge } from '../../../lambda/purge-expired/handler';
import { createHandler as createOperations } from '../../../lambda/run-operation/handler';
import { recordLog } from '../../support/log';
import { deletionOf, type Organization, ownFacts, seedOrganization } from '../../support/organization';
import { useMigratedDatabase } from '../../support/region-database';
import { addWebhook } from '../../support/webhooks';

/** Rows of each table: in pages of tables and indexes, far more than a statement should read. */
const crowd = 10_000;
const few = 100;

let client: Client;
// Hooks run in the order of their definition: the connection ends before the database.
afterAll(() => client.end());
const region = useMigratedDatabase();
let organization: Organization;
let webhookId: string;
/** By the outcome of their deletion: the second is a member of one group with the permission. */
const callers = { permission_missing: newId('us'), deleted: newId('us') };
const group = (number: number) => `ug-aaaaa-aaaaa-${String(number).padStart(16, '0')}`;

/** The product's statements on one connection, so that their reads are counted. */
const database: Database = {
  async execute(statement) {
    return ok((await client.query(toQuery(statement))).rows);
  },
};

/** Many groups with the permission. One person is a member of all, which the planner considers typical. Others' rows crowd the rest. */
beforeAll(async () => {
  const { host, port, database: name, superuser: user, password } = region.postgres;
  client = new Client({ host, port, database: name, user, password });
  await client.connect();
  organization = await seedOrganization(region.owner);
  const { organizationId, serviceAccountId } = organization;
  await region.query`
    with user_group as (
      select ${organizationId} as organization_id, 'ug-aaaaa-aaaaa-' || lpad(n::text, 16, '0') as id
      from generate_series(1, ${crowd}::int) n
    ),
    added as (insert into user_groups (user_group_id, organization_id, name) select id, organization_id, id from user_group),
    member as (
      insert into user_group_members (organization_id, user_group_id, identity_id)
      select organization_id, id, ${serviceAccountId} from user_group
    )
    insert into permission_assignments (assignment_id, organization_id, permission_id, user_group_id)
    select replace(id, 'ug', 'as'), organization_id, permission_id, id
    from user_group join permissions using (organization_id)`;
  await region.query`
    with other as (select 'or-aaaaa-aaaaa-' || lpad(n::text, 16, '0') as organization, lpad(n::text, 16, '0') as id, now() + n * interval '1 minute' as at
      from generate_series(1, ${crowd}::int) n),
    added as (insert into organizations (organization_id) select organization from other),
    audited as (
      insert into audit_records
        (organization_id, identity_id, operation, subject_id, outcome, request_id, user_action_id)
      select organization, 'us', 'o', 'ug-' || id, 'deleted', 'r', 'action ' || id from other),
    used as (
      insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
      select 'action ' || id, organization, 'us', 'r', at from other),
    webhook as (
      insert into webhooks (webhook_id, organization_id, url)
      select 'wh-aaaaa-aaaaa-' || id, organization, 'https://a' from other),
    attempt as (
      insert into webhook_attempts (event_id, webhook_id, delivery_id, attempted_at, duration_ms, outcome, reason)
      select 'event-' || id, 'wh-aaaaa-aaaaa-' || id, 'd', at, 1, 'failed', 'r' from other)
    insert into webhook_events (event_id, organization_id, kind, accepted_at, body)
    select 'event-' || id, organization, 'k', at, '{}' from other`;
  webhookId = await addWebhook(region.owner, organizationId);
  await region.query`
    insert into permissions (permission_id, organization_id, name, operations)
    values (${newId('pm')}, ${organizationId}, 'Unused', '{}')`;
  for (const callerId of Object.values(callers))
    await region.query`
      insert into identities (identity_id, organization_id, kind)
      values (${callerId}, ${organizationId}, 'CustomerEmployee')`;
  await region.query`
    insert into user_group_members (organization_id, user_group_id, identity_id)
    values (${organizationId}, ${group(crowd)}, ${callers.deleted})`;
  // Its reads would count too.
  await client.query(`
    do $$ begin
      execute (select string_agg(format('alter table %I set (autovacuum_enabled = false)', tablename), ';')
        from pg_tables where schemaname = 'public');
    end $$`);
  // One row of each table is expired.
  for (const [table, time, key] of [
    ['webhook_attempts', 'attempted_at', 'event_id'],
    ['webhook_events', 'accepted_at', 'event_id'],
    ['used_user_actions', 'expires_at', 'user_action_id'],
  ])
    await client.query(`update ${table} set ${time} = '2020-01-01' where ${key} like '%00001'`);
  await client.query('vacuum analyze');
});

/**
 * Pages of tables and indexes that this database's statements have read, with those of functions and cascades.
 * https://www.postgresql.org/docs/17/monitoring-stats.html
 */
async function pagesRead(): Promise<number> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query(`
    select (select sum(heap_blks_hit + heap_blks_read) from pg_statio_user_tables)
      + (select sum(idx_blks_hit + idx_blks_read) from pg_statio_user_indexes) as pages`);
  return Number(rows[0].pages);
}

async function deletion(outcome: keyof typeof callers): Promise<void> {
  const request = deletionOf({ ...organization, callerId: callers[outcome], userGroupId: group(1) });
  const found = await client.query(toQuery(deletionStatement(request)));
  expect(found.rows).toEqual([{ outcome }]);
}

const operation = (name: string, input: object) =>
  createOperations({ ports: { database, ...ownFacts }, log: recordLog() })({ operation: name, input });
const times = { since: '2020-01-01T00:00:00Z', until: '2040-01-01T00:00:00Z' };
const attempt = {
  eventId: 'ev-1',
  deliveryId: 'd',
  attemptedAt: 0,
  durationMs: 1,
  reason: 'timeout',
} as const;

/** What the product does, at least once with each index. */
const work: Readonly<Record<string, () => Promise<unknown>>> = {
  'a deletion without permission': () => deletion('permission_missing'),
  'a deletion': () => deletion('deleted'),
  'the audit records of a group': () => operation('list-audit-records', { userGroupId: group(1) }),
  'the webhooks of an organization': () =>
    operation('list-webhooks', { organizationId: organization.organizationId }),
  'a fan-out': () => {
    const event = { id: 'ev-1', organizationId: organization.organizationId, kind: 'k', text: '{}' };
    return createSubscriptions(database).findSubscribers({ event, acceptedAt: Date.parse(times.until) - 1 });
  },
  'a redelivery': () => createSubscriptions(database).findStoredEvent({ eventId: 'ev-1', webhookId }),
  'a delivery': () => createWebhooks(database).find(webhookId),
  "an attempt's row": () => createWebhooks(database).record({ ...attempt, webhookId, outcome: 'failed' }),
  'the attempts of an event': () => operation('list-delivery-attempts', { eventId: 'ev-1', limit: 10 }),
  'the attempts of a webhook': () => operation('list-delivery-attempts', { webhookId, limit: 10 }),
  'the latest attempts': () => operation('list-delivery-attempts', { limit: 10 }),
  'the stored events of a webhook': () =>
    operation('list-stored-events', { webhookId, undelivered: true, ...times, limit: 10 }),
  'a purge': () => createPurge({ database, log: recordLog(), now: Date.now, batchSize: 10 })(undefined),
  'the removal of a permission': () => client.query(`delete from permissions where name = 'Unused'`),
};

it.each(Object.entries(work))('%s reads a few pages of many', async (name, run) => {
  // The statements for many rows scan a table that is as small as here, and must be able not to.
  await client.query(`set enable_seqscan = ${name.startsWith('a deletion') ? 'on' : 'off'}`);
  const before = await pagesRead();
  await run();
  expect((await pagesRead()) - before).toBeLessThan(few);
});

it('a deletion uses a generic plan from the first in a session', async () => {
  const { rows } = await client.query(
    `select name from pg_backend_memory_contexts where ident like '%same_request%' order by name`,
  );
  // Custom plans, which PostgreSQL makes five times before it considers another, are not cached.
  expect(rows).toEqual([{ name: 'CachedPlan' }, { name: 'CachedPlanSource' }]);
});

it('all of this uses every index but those of keys', async () => {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query(`
    select indexrelname as unused from pg_stat_user_indexes
    where idx_scan = 0 and not exists (select from pg_constraint where conindid = indexrelid)`);
  expect(rows).toEqual([]);
});
