import { Client } from 'pg';
import { newId } from '../../../domain/ids';
import { toQuery } from '../../../lambda/database/direct';
import { deletionStatement } from '../../../lambda/delete-user-group/delete-in-database';
import { deletionOf, type Organization, seedOrganization } from '../../support/organization';
import { useMigratedDatabase } from '../../support/region-database';

/** Groups: in pages of tables and indexes, far more than a deletion should read. */
const crowd = 10_000;
const few = 100;

let client: Client;
// Hooks run in the order of their definition: the connection ends before the database.
afterAll(() => client.end());
const region = useMigratedDatabase();
let organization: Organization;
const group = (number: number) => `ug-aaaaa-aaaaa-${String(number).padStart(16, '0')}`;

/** Many groups with the permission. One person is a member of all, which the planner considers typical. */
beforeAll(async () => {
  const { host, port, database, superuser: user, password } = region.postgres;
  client = new Client({ host, port, database, user, password });
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

it.each(['permission_missing', 'deleted'])(
  'reads a few pages of many for the outcome %s',
  async (outcome) => {
    const callerId = newId('us');
    await region.query`
    with caller as (
      insert into identities (identity_id, organization_id, kind)
      values (${callerId}, ${organization.organizationId}, 'CustomerEmployee') returning *
    )
    insert into user_group_members (organization_id, user_group_id, identity_id)
    select organization_id, ${group(crowd)}, identity_id from caller where ${outcome}::text = 'deleted'`;
    const deletion = deletionOf({ ...organization, callerId, userGroupId: group(1) });
    await client.query('vacuum analyze');
    const before = await pagesRead();
    expect((await client.query(toQuery(deletionStatement(deletion)))).rows).toEqual([{ outcome }]);
    expect((await pagesRead()) - before).toBeLessThan(few);
  },
);

it('uses a generic plan from the first deletions of a session', async () => {
  const { rows } = await client.query(
    `select name from pg_backend_memory_contexts where ident like '%same_request%' order by name`,
  );
  // Custom plans, which PostgreSQL makes five times before it considers another, are not cached.
  expect(rows).toEqual([{ name: 'CachedPlan' }, { name: 'CachedPlanSource' }]);
});
