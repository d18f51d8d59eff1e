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

let client: Client;
// Hooks run in the order of their definition: the connection ends before the database.
afterAll(() => client.end());
const region = useMigratedDatabase();
let organization: Organization;
let webhookId: string;
/** Keyed by the outcome of their deletion: the second is a member of one group with the permission. */
const callers = { permission_missing: newId('us'), deleted: newId('us') };
const group = (number: number) => `ug-aaaaa-aaaaa-${String(number).padStart(16, '0')}`;

/** The product's statements on one connection, so that their reads are counted. */
const database: Database = {
  async execute(statement) {
    return ok((await client.query(toQuery(statement))).rows);
  },
};

/**
 * Rows by table and column: one organization has many groups with the permission, and one person is a member of all, which the
 * planner considers typical. Others' rows crowd the rest. One row of each table is expired.
 */
function crowdOf({ organizationId, serviceAccountId }: Organization): Readonly<Record<string, object>> {
  const own = { organization_id: `'${organizationId}'`, user_group_id: "'ug-aaaaa-aaaaa-' || id" };
  const organization_id = "'or-aaaaa-aaaaa-' || id";
  const webhook_id = "'wh-aaaaa-aaaaa-' || id";
  const use = { user_action_id: 'id', organization_id, identity_id: 'id', request_id: 'id' };
  const permission_id = '(select permission_id from permissions)';
  const attempt = { webhook_id, event_id: 'id', delivery_id: 'id', attempted_at: 'at', duration_ms: 1 };
  return {
    organizations: { organization_id },
    user_groups: { ...own, name: 'id' },
    user_group_members: { ...own, identity_id: `'${serviceAccountId}'` },
    permission_assignments: { ...own, permission_id, assignment_id: "'as-aaaaa-aaaaa-' || id" },
    audit_records: { ...use, operation: 'id', subject_id: 'id', outcome: "'deleted'" },
    used_user_actions: { ...use, expires_at: 'at' },
    webhooks: { webhook_id, organization_id, url: "'https://a'" },
    webhook_attempts: { ...attempt, outcome: "'failed'", reason: 'id' },
    webhook_events: { event_id: 'id', organization_id, kind: 'id', accepted_at: 'at', body: "'{}'" },
  };
}

beforeAll(async () => {
  const { host, port, database: name, superuser: user, password } = region.postgres;
  client = new Client({ host, port, database: name, user, password });
  await client.connect();
  organization = await seedOrganization(region.owner);
  for (const [table, row] of Object.entries(crowdOf(organization)))
    await client.query(`
      -- Its reads would count too.
      alter table ${table} set (autovacuum_enabled = false);
      insert into ${table} (${Object.keys(row)}) select ${Object.values(row)} from (
        select lpad(n::text, 16, '0') as id, case n when 1 then '2020-01-01' else now() + n * interval '1 minute' end as at
        from generate_series(1, ${crowd}) n) other`);
  const { organizationId } = organization;
  webhookId = await addWebhook(region.owner, organizationId);
  for (const callerId of Object.values(callers))
    await region.query`
      insert into identities (identity_id, organization_id, kind)
      values (${callerId}, ${organizationId}, 'CustomerEmployee')`;
  await region.query`
    insert into user_group_members (organization_id, user_group_id, identity_id)
    values (${organizationId}, ${group(crowd)}, ${callers.deleted})`;
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
const sent = { eventId: 'ev-1', deliveryId: 'd', attemptedAt: 0, durationMs: 1, series: '' };
const failed = { number: 1, attempt: 1, outcome: 'failed', reason: 'timeout' } as const;

const work: Readonly<Record<string, () => Promise<unknown>>> = {
  'a deletion without permission': () => deletion('permission_missing'),
  'a deletion': () => deletion('deleted'),
  'the audit records of a group': () => operation('list-audit-records', { userGroupId: group(1) }),
  'the webhooks of an organization': () =>
    operation('list-webhooks', { organizationId: organization.organizationId }),
  'a fan-out': () => {
    const event = { id: 'ev-1', organizationId: organization.organizationId, kind: 'k', text: '{}' };
    const accepted = { event, acceptedAt: Date.parse(times.until) - 1, messageId: 'm-1' };
    return createSubscriptions(database).findSubscribers(accepted);
  },
  'a redelivery': () => createSubscriptions(database).findStoredEvent({ eventId: 'ev-1', webhookId }),
  'a delivery': () => createWebhooks(database).find({ webhookId, deliveryId: 'd' }),
  "an attempt's row": () => createWebhooks(database).record({ webhookId, ...sent, ...failed }),
  'the attempts of an event': () => operation('list-delivery-attempts', { eventId: 'ev-1', limit: 10 }),
  'the attempts of a webhook': () => operation('list-delivery-attempts', { webhookId, limit: 10 }),
  'the latest attempts': () => operation('list-delivery-attempts', { limit: 10 }),
  'the stored events of a webhook': () =>
    operation('list-stored-events', { webhookId, undelivered: true, ...times, limit: 10 }),
  'a purge': () => createPurge({ database, log: recordLog(), now: Date.now, batchSize: 10 })(undefined),
};

it.each(Object.entries(work))('%s reads a few pages of many', async (name, run) => {
  // The statements for many rows scan a table that is as small as here, and must be able not to.
  await client.query(`set enable_seqscan = ${name.startsWith('a deletion') ? 'on' : 'off'}`);
  const before = await pagesRead();
  await run();
  expect((await pagesRead()) - before).toBeLessThan(100);
});
