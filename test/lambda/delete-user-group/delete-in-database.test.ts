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

const region = useMigratedDatabase();
let organization: Organization;
let deleteUserGroup: DeleteUserGroup;

beforeAll(() => {
  deleteUserGroup = deleteInDatabase(region.as('delete_user_group'));
});
beforeEach(async () => {
  organization = await seedOrganization(region.owner);
});

const deletion = (changes?: Partial<UserGroupDeletion>) => deletionOf(organization, changes);
const by = (identityId: string, kind: Caller['kind'] = 'CustomerEmployee') => ({
  caller: { identityId, organizationId: organization.organizationId, kind },
});

it('deletes only the group, its members and assignments, and writes the audit record', async () => {
  const other = await addGroup(region.owner, organization);
  const request = deletion();
  expect(await deleteUserGroup(request)).toEqual(ok('deleted'));
  expect(await traces(region.owner, organization.userGroupId)).toEqual(gone);
  expect(await traces(region.owner, other)).toEqual(whole);
  const ownAssignments = await region.query`
    select count(*)::int as count from permission_assignments
    where organization_id = ${organization.organizationId} and identity_id is not null`;
  expect(ownAssignments).toEqual([{ count: 3 }]);
  const records = await region.query`
    select identity_id, operation, subject_name, outcome, request_id, user_action_id from audit_records
    where organization_id = ${organization.organizationId}`;
  expect(records).toEqual([
    {
      identity_id: organization.callerId,
      operation: 'Auth:UserGroups:Delete',
      subject_name: 'Treasury',
      outcome: 'deleted',
      request_id: request.requestId,
      user_action_id: request.userAction.id,
    },
  ]);
  expect(await deleteUserGroup(deletion())).toEqual(ok('user_group_not_found'));
});

it("does not find another organization's group", async () => {
  const other = await seedOrganization(region.owner);
  expect(await deleteUserGroup(deletion({ userGroupId: other.userGroupId }))).toEqual(
    ok('user_group_not_found'),
  );
  expect(await traces(region.owner, other.userGroupId)).toEqual({ ...whole, members: 3 });
});

const withoutOwnAssignment = () =>
  region.query`delete from permission_assignments where identity_id = ${organization.callerId}`;

it.each<[string, () => Promise<unknown>, () => Partial<UserGroupDeletion>]>([
  ['a service account', async () => {}, () => by(organization.serviceAccountId, 'ServiceAccount')],
  ['a caller with the permission through the very group', withoutOwnAssignment, () => ({})],
])('allows %s', async (_, prepare, changes) => {
  await prepare();
  expect(await deleteUserGroup(deletion(changes()))).toEqual(ok('deleted'));
});

type Changes = Partial<UserGroupDeletion>;
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
      await withoutOwnAssignment();
      await region.query`delete from user_group_members where identity_id = ${organization.callerId}`;
      return {};
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
    select user_action_id from used_user_actions where user_action_id = ${request.userAction.id}`;
  expect(used).toEqual([]);
});

describe('with a used user action', () => {
  it('reports a replay, even after the purge or by another identity', async () => {
    const first = deletion();
    await deleteUserGroup(first);
    const userGroupId = await addGroup(region.owner, organization);
    const again = deletion({ userAction: first.userAction, userGroupId });
    expect(await deleteUserGroup(again)).toEqual(ok('user_action_replayed'));
    const others = { ...first, ...by(organization.serviceAccountId, 'ServiceAccount') };
    expect(await deleteUserGroup(others)).toEqual(ok('user_action_replayed'));
    await region.query`delete from used_user_actions where user_action_id = ${first.userAction.id}`;
    expect(await deleteUserGroup(again)).toEqual(ok('user_action_replayed'));
    expect(await traces(region.owner, userGroupId)).toEqual(whole);
  });

  it.each(['deleted', 'user_group_not_found'] as const)('repeats the outcome %s', async (outcome) => {
    const request = deletion(outcome === 'deleted' ? {} : { userGroupId: newId('ug') });
    expect(await deleteUserGroup(request)).toEqual(ok(outcome));
    expect(await deleteUserGroup(request)).toEqual(ok(outcome));
  });
});

describe('200 concurrent deletions', () => {
  const instances = 20;
  let ports: readonly DeleteUserGroup[];
  let first: UserGroupDeletion;
  beforeAll(() => {
    ports = Array.from({ length: instances }, () => deleteInDatabase(region.as('delete_user_group')));
  });

  async function countOutcomes(create: () => UserGroupDeletion) {
    const counts: Record<string, number> = {};
    const run = async (index: number) => {
      const outcome = await (ports[index % instances] as DeleteUserGroup)(create());
      const name = outcome.ok ? outcome.value : outcome.error.reason;
      counts[name] = (counts[name] ?? 0) + 1;
    };
    await Promise.all(Array.from({ length: 200 }, (_, index) => run(index)));
    return counts;
  }

  it.each<[string, () => Partial<UserGroupDeletion>, object]>([
    ['delete one group once', () => ({}), { deleted: 1, user_group_not_found: 199 }],
    [
      'use one user action once',
      () => ({ userAction: first.userAction }),
      { deleted: 1, user_action_replayed: 199 },
    ],
    ['report one outcome of the same request', () => first, { deleted: 200 }],
  ])('%s', async (_, changes, counts) => {
    first = deletion();
    expect(await countOutcomes(() => deletion(changes()))).toEqual(counts);
    expect(await traces(region.owner, organization.userGroupId)).toEqual(gone);
  });
});

describe('attempts', () => {
  const lost = fail({ kind: 'database_unavailable', reason: 'connection_lost' } as const);
  const timedOut = fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
  const contended = ok([{ outcome: 'contended' }]);
  const deleted = ok([{ outcome: 'deleted' }]);

  it.each([
    ['up to three for a raced user action', [contended, contended, deleted], 3, ok('deleted')],
    ['up to three for a lost connection', [lost, lost, deleted], 3, ok('deleted')],
    [
      'no fourth',
      [contended, contended, contended, deleted],
      3,
      fail({ kind: 'database_unavailable', reason: 'user_action_contended' }),
    ],
    ['one when the time is over', [timedOut, deleted], 1, timedOut],
  ])('%s', async (_, answers, calls, outcome) => {
    let made = 0;
    const execute = async () => answers[made++] ?? deleted;
    expect(await deleteInDatabase({ execute })(deletion())).toEqual(outcome);
    expect(made).toBe(calls);
  });
});
