import type { Client } from 'pg';

/** What a region is filled with. */
export interface Filling {
  readonly groups: number;
  /** Groups of one organization, at most: the first organizations have as many, the others none. */
  readonly groupsPerOrganization: number;
}

/** Organizations of a region, at least. Each has ten people. */
const organizationsAtLeast = 1_000;
const identitiesPerOrganization = 10;
const earlierDeletions = 10_000;

const id = (kind: string, number: number) => `${kind}-aaaaa-aaaaa-${String(number).padStart(16, '0')}`;

/** The organization with this number, and in it the caller, who may delete groups. */
export const organizationId = (number: number) => id('or', number);
export const callerId = (organization: number) => id('us', organization * identitiesPerOrganization);
export const userGroupId = (number: number) => id('ug', number);

/**
 * Fills a region: organizations of ten people and one permission; groups of two of these people, each with an assignment
 * of the permission; records of earlier deletions. Group `n` is in organization `n / groupsPerOrganization`. The first of
 * an organization's people is in no group and has a direct assignment, the last that was made.
 */
export async function fillRegion(client: Client, { groups, groupsPerOrganization }: Filling): Promise<void> {
  const organizations = Math.max(organizationsAtLeast, Math.ceil(groups / groupsPerOrganization));
  const number = (expression: string) => `lpad((${expression})::text, 16, '0')`;
  const organization = `'or-aaaaa-aaaaa-' || ${number(`n / ${groupsPerOrganization}`)}`;
  const member = `'us-aaaaa-aaaaa-' || ${number(
    `n / ${groupsPerOrganization} * ${identitiesPerOrganization} + (n + m) % (${identitiesPerOrganization} - 1) + 1`,
  )}`;
  const statements = [
    // No foreign key is checked while the tables are filled: every row refers to what is there.
    'set session_replication_role = replica',
    `insert into organizations (organization_id)
     select 'or-aaaaa-aaaaa-' || ${number('n')} from generate_series(0, ${organizations - 1}) n`,
    `insert into identities (identity_id, organization_id, kind)
     select 'us-aaaaa-aaaaa-' || ${number('n')}, 'or-aaaaa-aaaaa-' || ${number(`n / ${identitiesPerOrganization}`)},
       'CustomerEmployee'
     from generate_series(0, ${organizations * identitiesPerOrganization - 1}) n`,
    `insert into permissions (permission_id, organization_id, name, operations)
     select 'pm-aaaaa-aaaaa-' || ${number('n')}, 'or-aaaaa-aaaaa-' || ${number('n')}, 'Administration',
       '{Auth:UserGroups:Delete}'
     from generate_series(0, ${organizations - 1}) n`,
    `insert into user_groups (user_group_id, organization_id, name)
     select 'ug-aaaaa-aaaaa-' || ${number('n')}, ${organization}, 'Group ' || n from generate_series(0, ${groups - 1}) n`,
    `insert into user_group_members (organization_id, user_group_id, identity_id)
     select ${organization}, 'ug-aaaaa-aaaaa-' || ${number('n')}, ${member}
     from generate_series(0, ${groups - 1}) n, generate_series(0, 1) m`,
    `insert into permission_assignments (assignment_id, organization_id, permission_id, user_group_id)
     select 'as-aaaaa-bbbbb-' || ${number('n')}, ${organization}, 'pm-aaaaa-aaaaa-' || ${number(`n / ${groupsPerOrganization}`)},
       'ug-aaaaa-aaaaa-' || ${number('n')}
     from generate_series(0, ${groups - 1}) n`,
    `insert into permission_assignments (assignment_id, organization_id, permission_id, identity_id)
     select 'as-aaaaa-aaaaa-' || ${number('n')}, 'or-aaaaa-aaaaa-' || ${number('n')}, 'pm-aaaaa-aaaaa-' || ${number('n')},
       'us-aaaaa-aaaaa-' || ${number(`n * ${identitiesPerOrganization}`)}
     from generate_series(0, ${organizations - 1}) n`,
    `insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
     select 'earlier-' || n, 'or-aaaaa-aaaaa-' || ${number(`n % ${organizations}`)}, 'us-aaaaa-aaaaa-' || ${number('n')},
       'request-' || n, now() from generate_series(1, ${earlierDeletions}) n`,
    `insert into audit_records
       (organization_id, identity_id, operation, subject_id, subject_name, outcome, request_id, user_action_id)
     select organization_id, identity_id, 'Auth:UserGroups:Delete', 'ug-bbbbb-bbbbb-' || ${number('1')}, 'Earlier',
       'deleted', request_id, user_action_id from used_user_actions`,
    'set session_replication_role = default',
    'vacuum analyze',
    'checkpoint',
  ];
  for (const statement of statements) await client.query(statement);
}

/** Adds people to the first organization, who are in no group. */
export async function addPeople(client: Client, count: number): Promise<void> {
  await client.query(
    `insert into identities (identity_id, organization_id, kind)
     select 'us-ccccc-ccccc-' || lpad(n::text, 16, '0'), $1, 'CustomerEmployee' from generate_series(1, $2::int) n`,
    [organizationId(0), count],
  );
  await client.query('vacuum analyze');
}

/** Makes so many of the added people the only members of a group of the first organization. */
export async function setMembers(client: Client, group: number, count: number): Promise<void> {
  await client.query('delete from user_group_members where organization_id = $1 and user_group_id = $2', [
    organizationId(0),
    userGroupId(group),
  ]);
  await client.query(
    `insert into user_group_members (organization_id, user_group_id, identity_id)
     select $1, $2, 'us-ccccc-ccccc-' || lpad(n::text, 16, '0') from generate_series(1, $3::int) n`,
    [organizationId(0), userGroupId(group), count],
  );
  await client.query('vacuum analyze user_group_members');
}
