import { randomUUID } from 'node:crypto';
import { newId } from '../../domain/ids';
import type { Seeded as Organization } from '../../domain/operations';
import { type Database, type Row, type Statement, sql } from '../../lambda/database/database';
import type { UserGroupDeletion } from '../../lambda/delete-user-group/delete-in-database';
import { organizations } from '../../lambda/run-operation/organizations';

export type { Organization };

export const ownFacts = {
  environment: 'test',
  apiUrl: 'https://api.execute-api.eu-central-1.amazonaws.com/api',
  dashboardUrl: 'https://dashboard.customer.com',
};

export async function seedOrganization(database: Database): Promise<Organization> {
  const input = { userGroupName: 'Treasury', ephemeral: false };
  const made = await organizations.seed(input, { database, ...ownFacts });
  if (!made.ok) throw new Error(JSON.stringify(made.error));
  return made.value as Organization;
}

export const deletionOf = (
  { organizationId, callerId: identityId, userGroupId }: Organization,
  changes: Partial<UserGroupDeletion> = {},
): UserGroupDeletion => ({
  caller: { identityId, organizationId, kind: 'CustomerEmployee' },
  userGroupId,
  userAction: { id: randomUUID(), expiresAt: Math.floor(Date.now() / 1000) + 300 },
  requestId: randomUUID(),
  ...changes,
});

/** The rows of a statement that must succeed. */
export async function rows(database: Database, statement: Statement): Promise<readonly Row[]> {
  const result = await database.execute(statement);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

/** Adds a group with the seeded caller as member and its own assignment. @returns its id */
export async function addGroup(
  database: Database,
  { organizationId, callerId }: Organization,
  name: string = newId('ug'),
): Promise<string> {
  const userGroupId = newId('ug');
  const added = sql`
    with user_group as (
      insert into user_groups (user_group_id, organization_id, name) values (${userGroupId}, ${organizationId}, ${name})
    ), member as (
      insert into user_group_members (organization_id, user_group_id, identity_id)
      values (${organizationId}, ${userGroupId}, ${callerId})
    )
    insert into permission_assignments (assignment_id, organization_id, permission_id, user_group_id)
    select ${newId('as')}, organization_id, permission_id, ${userGroupId}
    from permissions where organization_id = ${organizationId}`;
  await rows(database, added);
  return userGroupId;
}

/** The traces of a group that `addGroup` added, before and after its deletion. */
export const whole = { groups: 1, members: 1, assignments: 1, deletions: 0 };
export const gone = { groups: 0, members: 0, assignments: 0, deletions: 1 };

/** Row counts of a group: itself, members, assignments, and its deletions in the audit. */
export async function traces(database: Database, userGroupId: string): Promise<Row> {
  const counts = sql`
    select
      (select count(*)::int from user_groups where user_group_id = ${userGroupId}) as groups,
      (select count(*)::int from user_group_members where user_group_id = ${userGroupId}) as members,
      (select count(*)::int from permission_assignments where user_group_id = ${userGroupId}) as assignments,
      (select count(*)::int from audit_records where subject_id = ${userGroupId} and outcome = 'deleted') as deletions`;
  return (await rows(database, counts))[0] as Row;
}
