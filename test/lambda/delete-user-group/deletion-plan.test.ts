import { Client } from 'pg';
import { newId } from '../../../domain/ids';
import { toQuery } from '../../../lambda/database/direct';
import { deletionStatement } from '../../../lambda/delete-user-group/delete-in-database';
import { deletionOf, type Organization, seedOrganization } from '../../support/organization';
import { useMigratedDatabase } from '../../support/region-database';

/** Far more than a deletion should read. */
const crowd = 2_000;
const few = 20;

let client: Client;
// Hooks run in the order of their definition: the connection ends before the database.
afterAll(() => client.end());
const region = useMigratedDatabase();
let organization: Organization;

/**
 * The organization has many groups, each with an assignment of the permission. One person is a member of all, which
 * the planner considers typical.
 */
beforeAll(async () => {
  const { host, port, database, superuser: user, password } = region.postgres;
  client = new Client({ host, port, database, user, password });
  await client.connect();
  organization = await seedOrganization(region.owner);
  const number = "lpad(n::text, 16, '0')";
  await client.query(
    `with user_group as (
       insert into user_groups (user_group_id, organization_id, name)
       select 'ug-aaaaa-aaaaa-' || ${number}, $1, 'Group ' || n from generate_series(1, $2::int) n
     ),
     member as (
       insert into user_group_members (organization_id, user_group_id, identity_id)
       select $1, 'ug-aaaaa-aaaaa-' || ${number}, $3 from generate_series(1, $2::int) n
     )
     insert into permission_assignments (assignment_id, organization_id, permission_id, user_group_id)
     select 'as-aaaaa-aaaaa-' || ${number}, $1, permission_id, 'ug-aaaaa-aaaaa-' || ${number}
     from permissions, generate_series(1, $2::int) n where organization_id = $1`,
    [organization.organizationId, crowd, organization.serviceAccountId],
  );
});

/** An identity that is added after the statistics are collected. */
async function addIdentity(): Promise<string> {
  const identityId = newId('us');
  await client.query(
    `insert into identities (identity_id, organization_id, kind) values ($1, $2, 'CustomerEmployee')`,
    [identityId, organization.organizationId],
  );
  return identityId;
}

async function addAssignee(): Promise<string> {
  const identityId = await addIdentity();
  await client.query(
    `insert into permission_assignments (assignment_id, organization_id, permission_id, identity_id)
     select $1, organization_id, permission_id, $2 from permissions where organization_id = $3`,
    [newId('as'), identityId, organization.organizationId],
  );
  return identityId;
}

async function addMember(userGroupId: string): Promise<string> {
  const identityId = await addIdentity();
  await client.query(
    'insert into user_group_members (organization_id, user_group_id, identity_id) values ($1, $2, $3)',
    [organization.organizationId, userGroupId, identityId],
  );
  return identityId;
}

const group = (number: number) => `ug-aaaaa-aaaaa-${String(number).padStart(16, '0')}`;

/**
 * Rows and index entries that this database's statements have read, with those of functions and cascades.
 * https://www.postgresql.org/docs/17/monitoring-stats.html
 */
async function rowsRead(): Promise<number> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query(`
    select (select sum(seq_tup_read) from pg_stat_user_tables)
      + (select sum(idx_tup_read) from pg_stat_user_indexes) as read`);
  return Number(rows[0].read);
}

const callers = [
  ['holds the permission', addAssignee, 'deleted'],
  ['holds it through a group', () => addMember(group(crowd)), 'deleted'],
  ['does not hold it', addIdentity, 'permission_missing'],
] as const;

let groups = 0;

it.each(callers)('reads a few rows of many when the caller %s', async (_, identity, outcome) => {
  groups += 1;
  const userGroupId = group(groups);
  const statement = deletionStatement(
    deletionOf({ ...organization, callerId: await identity(), userGroupId }),
  );
  await client.query('vacuum analyze');
  const before = await rowsRead();
  expect((await client.query(toQuery(statement))).rows).toEqual([{ outcome }]);
  expect((await rowsRead()) - before).toBeLessThan(few);
});

it('uses a generic plan from the first deletion of a session', async () => {
  const { host, port, database, superuser: user, password } = region.postgres;
  const session = new Client({ host, port, database, user, password });
  await session.connect();
  try {
    const { text, values } = toQuery(deletionStatement(deletionOf(organization)));
    await session.query({ text, values: values as unknown[] });
    const { rows } = await session.query(
      `select name from pg_backend_memory_contexts where ident like '%same_request%' order by name`,
    );
    // Custom plans are not cached.
    expect(rows).toEqual([{ name: 'CachedPlan' }, { name: 'CachedPlanSource' }]);
  } finally {
    await session.end();
  }
});
