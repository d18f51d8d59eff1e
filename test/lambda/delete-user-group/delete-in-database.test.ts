import { fail, ok } from '../../../domain/result';
import type { Caller } from '../../../domain/tokens';
import {
  type DeleteUserGroup,
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

type Changes = Partial<UserGroupDeletion>;

const region = useMigratedDatabase();
const deleteUserGroup: DeleteUserGroup = (each) => deleteInDatabase(region.as('delete_user_group'))(each);
let organization: Organization;
beforeEach(async () => {
  organization = await seedOrganization(region.owner);
});

const deletion = (changes: Changes = {}) => deletionOf(organization, changes);
const by = (identityId: string, kind: Caller['kind'] = 'CustomerEmployee') => ({
  caller: { identityId, organizationId: organization.organizationId, kind },
});

it('deletes only the group, its members and assignments, and writes the audit record', async () => {
  const { organizationId, callerId, userGroupId } = organization;
  const other = await addGroup(region.owner, organization);
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
    from audit_records where organization_id = ${organizationId}`;
  const subject = { identity_id: callerId, operation: 'Auth:UserGroups:Delete', subject_name: 'Treasury' };
  const ids = { request_id: request.requestId, user_action_id: request.userAction.id };
  expect(records).toEqual([{ ...subject, outcome: 'deleted', ...ids }]);
  // For the purge.
  const used = await region.query`
    select extract(epoch from expires_at)::integer as expires from used_user_actions
    where user_action_id = ${request.userAction.id}`;
  expect(used).toEqual([{ expires: request.userAction.expiresAt }]);
});

it("neither finds another organization's group nor permits its caller, nor an end user", async () => {
  const { userGroupId, callerId } = await seedOrganization(region.owner);
  expect(await deleteUserGroup(deletion({ userGroupId }))).toEqual(ok('user_group_not_found'));
  expect(await traces(region.owner, userGroupId)).toEqual({ ...whole, members: 3 });
  for (const caller of [by(callerId), by(organization.endUserId, 'EndUser')])
    expect(await deleteUserGroup(deletion(caller))).toEqual(ok('permission_missing'));
});

it('permits a service account, and a caller with the permission through the very group', async () => {
  await region.query`delete from permission_assignments where identity_id = ${organization.callerId}`;
  expect(await deleteUserGroup(deletion())).toEqual(ok('deleted'));
  const userGroupId = await addGroup(region.owner, organization);
  const request = deletion({ ...by(organization.serviceAccountId, 'ServiceAccount'), userGroupId });
  expect(await deleteUserGroup(request)).toEqual(ok('deleted'));
});

it.each([
  ['is an end user, but an employee in the token', `update identities set kind = 'EndUser'`],
  ['is a service account, but an employee in the token', `update identities set kind = 'ServiceAccount'`],
  ['is deactivated', 'update identities set active = false'],
  ['holds a permission for other operations', `update permissions set operations = array['Auth:Read']`],
  [
    'does not hold the permission, directly or through a group',
    `with employees as (select identity_id from identities where kind = 'CustomerEmployee'),
      memberships as (delete from user_group_members where identity_id in (table employees))
    delete from permission_assignments where identity_id in (table employees)`,
  ],
])('refuses the deletion without using up the user action when the caller %s', async (_, change) => {
  await region.owner.execute({ text: [change], values: [] });
  const request = deletion();
  expect(await deleteUserGroup(request)).toEqual(ok('permission_missing'));
  expect(await traces(region.owner, organization.userGroupId)).toMatchObject({ groups: 1, deletions: 0 });
  const used = await region.query`
    select user_action_id from used_user_actions where user_action_id = ${request.userAction.id}`;
  expect(used).toEqual([]);
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

it.each<[string, (first: UserGroupDeletion) => Changes, deleted: number, others: string]>([
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
