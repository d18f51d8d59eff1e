import { randomUUID } from 'node:crypto';
import { newId } from '../../../domain/ids';
import { fail, ok } from '../../../domain/result';
import type { Caller } from '../../../domain/tokens';
import { sql } from '../../../lambda/database/database';
import {
  deleteInDatabase,
  type UserGroupDeletion,
} from '../../../lambda/delete-user-group/delete-in-database';
import {
  addGroup,
  deletionOf,
  gone,
  type Organization,
  seedOrganization,
  traces,
  whole,
} from '../../support/organization';
import { useMigratedDatabase } from '../../support/region-database';

const kinds = ['CustomerEmployee', 'EndUser', 'ServiceAccount'] as const;

const region = useMigratedDatabase();
const deleteUserGroup = (each: UserGroupDeletion) => deleteInDatabase(region.as('delete_user_group'))(each);
let organization: Organization;
beforeEach(async () => {
  organization = await seedOrganization(region.owner);
});

const deletion = (changes: Partial<UserGroupDeletion> = {}) => deletionOf(organization, changes);
const by = (identityId: string, kind: Caller['kind'] = 'CustomerEmployee') => ({
  caller: { identityId, organizationId: organization.organizationId, kind },
});

it("deletes only the group, no other organization's, with its members and assignments, and writes the audit record", async () => {
  const { organizationId, callerId, userGroupId } = organization;
  const other = await addGroup(region.owner, organization);
  const foreign = await seedOrganization(region.owner);
  const notFound = await deleteUserGroup(deletion({ userGroupId: foreign.userGroupId }));
  expect(notFound).toEqual(ok('user_group_not_found'));
  expect(await traces(region.owner, foreign.userGroupId)).toEqual({ ...whole, members: 3 });
  const request = deletion();
  expect(await deleteUserGroup(request)).toEqual(ok('deleted'));
  expect(await traces(region.owner, userGroupId)).toEqual(gone);
  expect(await traces(region.owner, other)).toEqual(whole);
  const ownAssignments = await region.query`
    select identity_id from permission_assignments
    where organization_id = ${organizationId} and identity_id is not null`;
  expect(ownAssignments).toHaveLength(3);
  const records = await region.query`
    select identity_id, operation, subject_name, outcome, request_id, user_action_id
    from audit_records where organization_id = ${organizationId} and subject_id = ${userGroupId}`;
  const subject = { identity_id: callerId, operation: 'Auth:UserGroups:Delete', subject_name: 'Treasury' };
  const ids = { request_id: request.requestId, user_action_id: request.userAction.id };
  expect(records).toEqual([{ ...subject, outcome: 'deleted', ...ids }]);
  // For the purge.
  const used = await region.query`
    select extract(epoch from expires_at)::integer as expires from used_user_actions
    where user_action_id = ${request.userAction.id}`;
  expect(used).toEqual([{ expires: request.userAction.expiresAt }]);
});

it('permits only active employees and service accounts with the permission, directly or through a group of theirs', async () => {
  const { organizationId } = organization;
  const { organizationId: another } = await seedOrganization(region.owner);
  // With the permission for deletions, only with one for others, or with both, directly or through groups.
  const callers = await region.query`
    with holder as (
      select name, left(name, 5) || substr(${organizationId}, 9) as id from unnest(array['delete', 'reads']) name
    ), caller as (
      select *, lpad(row_number() over ()::text, 5, '0') || substr(${organizationId}, 9) as id
      from unnest(array['CustomerEmployee', 'EndUser', 'ServiceAccount']) kind, unnest(array[true, false]) active,
        unnest(array['delete', 'reads', '']) direct, unnest(array['delete', 'reads', 'delete reads', '']) groups
    ), permission as (
      insert into permissions (organization_id, permission_id, name, operations)
      select ${organizationId}, 'pm-' || id, name, array['Auth:UserGroups:' || initcap(name)] from holder
    ), user_group as (
      insert into user_groups (organization_id, user_group_id, name) select ${organizationId}, 'ug-' || id, name from holder
    ), identity as (
      insert into identities (organization_id, identity_id, kind, active)
      select ${organizationId}, 'us-' || id, kind, active from caller
    ), member as (
      insert into user_group_members (organization_id, user_group_id, identity_id)
      select ${organizationId}, 'ug-' || holder.id, 'us-' || caller.id from holder join caller on strpos(groups, name) > 0
    ), assignment as (
      insert into permission_assignments (organization_id, assignment_id, permission_id, user_group_id, identity_id)
      select ${organizationId}, 'as-' || id, 'pm-' || id, 'ug-' || id, null from holder
      union all
      select ${organizationId}, 'as-' || caller.id, 'pm-' || holder.id, null, 'us-' || caller.id
      from holder join caller on direct = name
    )
    select 'us-' || id as identity, kind, active, direct, groups from caller`;
  // Deletes nothing, so that the next is permitted, too.
  const requests = callers.flatMap(({ identity, ...caller }) =>
    [organizationId, another].flatMap((organization) =>
      kinds.map((kind) => {
        const isPermitted =
          organization === organizationId &&
          kind === caller.kind &&
          kind !== 'EndUser' &&
          caller.active === true &&
          `${caller.direct} ${caller.groups}`.includes('delete');
        const outcome = isPermitted ? 'user_group_not_found' : 'permission_missing';
        return { organization, identity, kind, action: randomUUID(), outcome };
      }),
    ),
  );
  const answers = await region.as('delete_user_group').execute(sql`
    select action, delete_user_group(
      organization, identity, kind, 'Auth:UserGroups:Delete', ${newId('ug')}, action, 0, action) as outcome
    from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb)
      as (organization text, identity text, kind text, action text)`);
  expect(answers).toEqual(ok(requests.map(({ action, outcome }) => ({ action, outcome }))));
  const used =
    await region.query`select user_action_id as id from used_user_actions where expires_at = to_timestamp(0)`;
  const permitted = requests.filter(({ outcome }) => outcome === 'user_group_not_found');
  expect(new Set(used.map(({ id }) => id))).toEqual(new Set(permitted.map(({ action }) => action)));
});

it('reports a replayed user action, even after the purge or by another identity', async () => {
  const first = deletion();
  await deleteUserGroup(first);
  const userGroupId = await addGroup(region.owner, organization);
  const again = deletion({ userAction: first.userAction, userGroupId });
  const another = { ...first, ...by(organization.serviceAccountId, 'ServiceAccount') };
  for (const replay of [again, another])
    expect(await deleteUserGroup(replay)).toEqual(ok('user_action_replayed'));
  await region.query`delete from used_user_actions where user_action_id = ${first.userAction.id}`;
  expect(await deleteUserGroup(again)).toEqual(ok('user_action_replayed'));
  expect(await traces(region.owner, userGroupId)).toEqual(whole);
});

it.each<[string, (first: UserGroupDeletion) => Partial<UserGroupDeletion>, deleted: number, others: string]>([
  ['delete one group once', () => ({}), 1, 'user_group_not_found'],
  ['use one user action once', ({ userAction }) => ({ userAction }), 1, 'user_action_replayed'],
  ['report one outcome of the same request', (first) => first, 20, ''],
])('20 concurrent deletions %s', async (_, changes, deleted, others) => {
  const first = deletion();
  const requests = Array.from({ length: 20 }, () => deleteUserGroup(deletion(changes(first))));
  const outcomes = (await Promise.all(requests)).map((outcome) => outcome.ok && outcome.value).sort();
  expect(outcomes).toEqual([...Array(deleted).fill('deleted'), ...Array(20 - deleted).fill(others)]);
  expect(await traces(region.owner, organization.userGroupId)).toEqual(gone);
});

const unavailable = (reason: string) => fail({ kind: 'database_unavailable', reason } as const);
const lost = unavailable('connection_lost');
const contended = ok([{ outcome: 'contended' }]);
it.each([
  ['again after a raced user action and a lost connection', [contended, lost], 3, ok('deleted')],
  ['no fourth time', [contended, contended, contended], 3, unavailable('user_action_contended')],
  ['once when the time is over', [unavailable('timeout')], 1, unavailable('timeout')],
])('tries %s', async (_, answers, calls, outcome) => {
  let made = 0;
  const execute = async () => answers[made++] ?? ok([{ outcome: 'deleted' }]);
  expect(await deleteInDatabase({ execute })(deletion())).toEqual(outcome);
  expect(made).toBe(calls);
});
