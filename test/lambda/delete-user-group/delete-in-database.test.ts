import { newId } from '../../../domain/ids';
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
let organization: Organization;
let deleteUserGroup: DeleteUserGroup;

beforeAll(() => {
  deleteUserGroup = deleteInDatabase(region.as('delete_user_group'));
});
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
  const [ownAssignments] = await region.query`
    select count(*)::int as count from permission_assignments
    where organization_id = ${organizationId} and identity_id is not null`;
  expect(ownAssignments).toEqual({ count: 3 });
  const records = await region.query`
    select identity_id, operation, subject_name, outcome, request_id, user_action_id
    from audit_records where organization_id = ${organizationId}`;
  const subject = { identity_id: callerId, operation: 'Auth:UserGroups:Delete', subject_name: 'Treasury' };
  const ids = { request_id: request.requestId, user_action_id: request.userAction.id };
  expect(records).toEqual([{ ...subject, outcome: 'deleted', ...ids }]);
  expect(await deleteUserGroup(deletion())).toEqual(ok('user_group_not_found'));
});

it("does not find another organization's group", async () => {
  const { userGroupId } = await seedOrganization(region.owner);
  expect(await deleteUserGroup(deletion({ userGroupId }))).toEqual(ok('user_group_not_found'));
  expect(await traces(region.owner, userGroupId)).toEqual({ ...whole, members: 3 });
});

const withoutOwnAssignment = async () => {
  await region.query`delete from permission_assignments where identity_id = ${organization.callerId}`;
  return {};
};

it.each<[string, () => Changes | Promise<Changes>]>([
  ['a service account', () => by(organization.serviceAccountId, 'ServiceAccount')],
  ['a caller with the permission through the very group', withoutOwnAssignment],
])('allows %s', async (_, prepare) => {
  expect(await deleteUserGroup(deletion(await prepare()))).toEqual(ok('deleted'));
});

it.each<[string, () => Changes | Promise<Changes>]>([
  ['is an end user', () => by(organization.endUserId, 'EndUser')],
  ['is an end user, but an employee in the token', () => by(organization.endUserId)],
  ['is a service account, but an employee in the token', () => by(organization.serviceAccountId)],
  ['is unknown', () => by(newId('us'))],
  [
    'belongs to another organization than the token says',
    async () => by((await seedOrganization(region.owner)).callerId),
  ],
  [
    'does not hold the permission, directly or through a group',
    async () => {
      await region.query`delete from user_group_members where identity_id = ${organization.callerId}`;
      return withoutOwnAssignment();
    },
  ],
  [
    'holds a permission for other operations',
    async () => {
      await region.query`
        update permissions set operations = array['Auth:UserGroups:Read']
        where organization_id = ${organization.organizationId}`;
      return {};
    },
  ],
  [
    'is deactivated',
    async () => {
      await region.query`update identities set active = false where identity_id = ${organization.callerId}`;
      return {};
    },
  ],
])('refuses the deletion without using up the user action when the caller %s', async (_, prepare) => {
  const request = deletion(await prepare());
  expect(await deleteUserGroup(request)).toEqual(ok('permission_missing'));
  expect(await traces(region.owner, organization.userGroupId)).toMatchObject({ groups: 1, deletions: 0 });
  const used = await region.query`
    select from used_user_actions where user_action_id = ${request.userAction.id}`;
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

it('repeats the outcome of the same request', async () => {
  const missing = deletion({ userGroupId: newId('ug') });
  for (const _ of [1, 2]) expect(await deleteUserGroup(missing)).toEqual(ok('user_group_not_found'));
});

it.each<[string, (first: UserGroupDeletion) => Changes, object]>([
  ['delete one group once', () => ({}), { deleted: 1, user_group_not_found: 199 }],
  [
    'use one user action once',
    ({ userAction }) => ({ userAction }),
    { deleted: 1, user_action_replayed: 199 },
  ],
  ['report one outcome of the same request', (first) => first, { deleted: 200 }],
])('200 concurrent deletions %s', async (_, changes, expected) => {
  const instances = Array.from({ length: 20 }, () => deleteInDatabase(region.as('delete_user_group')));
  const first = deletion();
  const requests = Array.from({ length: 10 }, () => instances.map((port) => port(deletion(changes(first)))));
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.all(requests.flat())) {
    const name = outcome.ok ? outcome.value : outcome.error.reason;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  expect(counts).toEqual(expected);
  expect(await traces(region.owner, organization.userGroupId)).toEqual(gone);
});

const unavailable = (reason: string) => fail({ kind: 'database_unavailable', reason } as const);
const lost = unavailable('connection_lost');
const contended = ok([{ outcome: 'contended' }]);
const deleted = ok([{ outcome: 'deleted' }]);
it.each([
  ['three times for a raced user action', [contended, contended, deleted], 3, ok('deleted')],
  ['three times for a lost connection', [lost, lost, deleted], 3, ok('deleted')],
  ['no fourth time', [contended, contended, contended], 3, unavailable('user_action_contended')],
  ['once when the time is over', [unavailable('timeout')], 1, unavailable('timeout')],
])('tries %s', async (_, answers, calls, outcome) => {
  let made = 0;
  const execute = async () => answers[made++] ?? deleted;
  expect(await deleteInDatabase({ execute })(deletion())).toEqual(outcome);
  expect(made).toBe(calls);
});
