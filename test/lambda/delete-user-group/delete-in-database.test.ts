import { newId } from '../../../domain/ids';
import { ok } from '../../../domain/result';
import type { Caller } from '../../../domain/tokens';
import type {
  DeleteUserGroup,
  UserGroupDeletion,
} from '../../../lambda/delete-user-group/delete-in-database';
import { deleteInDatabase } from '../../../lambda/delete-user-group/delete-in-database';
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

describe.each(['data-api', 'direct'] as const)('a deletion with %s access', (access) => {
  const region = useMigratedDatabase(access);
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

  it('takes the group with its members and assignments, and writes the audit record', async () => {
    const request = deletion();
    expect(await deleteUserGroup(request)).toEqual(ok('deleted'));
    expect(await traces(region.owner, organization.userGroupId)).toEqual(gone);
    expect(
      await region.query`select identity_id, operation, subject_name, outcome, request_id, user_action_id from audit_records
        where organization_id = ${organization.organizationId}`,
    ).toEqual([
      {
        identity_id: organization.callerId,
        operation: 'Auth:UserGroups:Delete',
        subject_name: 'Treasury',
        outcome: 'deleted',
        request_id: request.requestId,
        user_action_id: request.userAction.id,
      },
    ]);
  });

  it('leaves the identities, their own assignments and other groups as they are', async () => {
    const other = await addGroup(region.owner, organization);
    await deleteUserGroup(deletion());
    expect(await traces(region.owner, other)).toEqual(whole);
    expect(
      await region.query`select count(*)::int as count from permission_assignments
        where organization_id = ${organization.organizationId} and identity_id is not null`,
    ).toEqual([{ count: 3 }]);
  });

  it('frees the name', async () => {
    await deleteUserGroup(deletion());
    const again = await addGroup(region.owner, organization, organization.userGroupName);
    expect(await traces(region.owner, again)).toEqual(whole);
  });

  it('finds the group only once', async () => {
    await deleteUserGroup(deletion());
    expect(await deleteUserGroup(deletion())).toEqual(ok('user_group_not_found'));
  });

  it('does not find a group of another organization, and leaves it whole', async () => {
    const other = await seedOrganization(region.owner);
    expect(await deleteUserGroup(deletion({ userGroupId: other.userGroupId }))).toEqual(
      ok('user_group_not_found'),
    );
    expect(await traces(region.owner, other.userGroupId)).toMatchObject({
      groups: 1,
      members: 3,
      assignments: 1,
    });
  });

  it('is a replay with a user action id of long ago, whose use is forgotten', async () => {
    const first = deletion();
    await deleteUserGroup(first);
    await region.query`delete from used_user_actions where user_action_id = ${first.userAction.id}`;
    const other = await addGroup(region.owner, organization);
    const again = deletion({ userGroupId: other, userAction: first.userAction });
    expect(await deleteUserGroup(again)).toEqual(ok('user_action_replayed'));
    expect(await traces(region.owner, other)).toEqual(whole);
  });

  describe('is allowed', () => {
    it('to a service account', async () => {
      const request = deletion(by(organization.serviceAccountId, 'ServiceAccount'));
      expect(await deleteUserGroup(request)).toEqual(ok('deleted'));
    });

    it('to who holds the permission through a group alone, even the group that goes', async () => {
      await region.query`delete from permission_assignments where identity_id = ${organization.callerId}`;
      expect(await deleteUserGroup(deletion())).toEqual(ok('deleted'));
    });
  });

  it.each<[string, () => Promise<unknown>]>([
    [
      'neither the caller nor a group of the caller holds the permission',
      async () => {
        await region.query`delete from permission_assignments where identity_id = ${organization.callerId}`;
        await region.query`delete from user_group_members where identity_id = ${organization.callerId}`;
      },
    ],
    [
      'the permission has been changed to other operations',
      () =>
        region.query`update permissions set operations = array['Auth:UserGroups:Read'] where organization_id = ${organization.organizationId}`,
    ],
    [
      'the caller is deactivated',
      () => region.query`update identities set active = false where identity_id = ${organization.callerId}`,
    ],
  ])('is refused, and spends no user action, when %s', async (_, prepare) => {
    await prepare();
    await expectRefused({});
  });

  it.each<[string, () => Partial<UserGroupDeletion> | Promise<Partial<UserGroupDeletion>>]>([
    ['is an end user', () => by(organization.endUserId, 'EndUser')],
    ['is an end user that the token calls an employee', () => by(organization.endUserId)],
    ['is unknown', () => by(newId('us'))],
    [
      'belongs to another organization than the token says',
      async () => by((await seedOrganization(region.owner)).callerId),
    ],
  ])('is refused, and spends no user action, when the caller %s', async (_, change) => {
    await expectRefused(await change());
  });

  async function expectRefused(change: Partial<UserGroupDeletion>) {
    const request = deletion(change);
    expect(await deleteUserGroup(request)).toEqual(ok('permission_missing'));
    expect(await traces(region.owner, organization.userGroupId)).toMatchObject({ groups: 1, deletions: 0 });
    expect(
      await region.query`select user_action_id from used_user_actions where user_action_id = ${request.userAction.id}`,
    ).toEqual([]);
  }

  describe('with a user action that was used', () => {
    it('is a replay, and touches nothing', async () => {
      const { userAction } = deletion();
      await deleteUserGroup(deletion({ userAction }));
      const userGroupId = await addGroup(region.owner, organization);
      expect(await deleteUserGroup(deletion({ userAction, userGroupId }))).toEqual(
        ok('user_action_replayed'),
      );
      expect(await traces(region.owner, userGroupId)).toEqual(whole);
    });

    it('reports the first outcome when the very same request comes again', async () => {
      const found = deletion();
      const absent = deletion({ userGroupId: newId('ug') });
      expect(await deleteUserGroup(found)).toEqual(ok('deleted'));
      expect(await deleteUserGroup(found)).toEqual(ok('deleted'));
      expect(await deleteUserGroup(absent)).toEqual(ok('user_group_not_found'));
      expect(await deleteUserGroup(absent)).toEqual(ok('user_group_not_found'));
      expect(await traces(region.owner, organization.userGroupId)).toEqual(gone);
    });

    it('is a replay when another identity repeats the request id', async () => {
      const first = deletion();
      await deleteUserGroup(first);
      const again = { ...first, ...by(organization.serviceAccountId, 'ServiceAccount') };
      expect(await deleteUserGroup(again)).toEqual(ok('user_action_replayed'));
    });
  });

  describe('many at once', () => {
    const instances = 20;
    let ports: readonly DeleteUserGroup[];
    beforeAll(() => {
      ports = Array.from({ length: instances }, () => deleteInDatabase(region.as('delete_user_group')));
    });
    const run = async (deletions: readonly UserGroupDeletion[]) => {
      const outcomes = await Promise.all(
        deletions.map((each, index) => (ports[index % instances] as DeleteUserGroup)(each)),
      );
      const counts: Record<string, number> = {};
      for (const outcome of outcomes) {
        const name = outcome.ok ? outcome.value : outcome.error.reason;
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    };
    const twoHundred = (make: () => UserGroupDeletion) => Array.from({ length: 200 }, make);

    it('delete one group exactly once', async () => {
      expect(await run(twoHundred(() => deletion()))).toEqual({ deleted: 1, user_group_not_found: 199 });
      expect(await traces(region.owner, organization.userGroupId)).toEqual(gone);
    });

    it('use one user action exactly once', async () => {
      const { userAction } = deletion();
      expect(await run(twoHundred(() => deletion({ userAction })))).toEqual({
        deleted: 1,
        user_action_replayed: 199,
      });
    });

    it('report one outcome when they are the same request', async () => {
      const request = deletion();
      expect(await run(twoHundred(() => request))).toEqual({ deleted: 200 });
      expect(await traces(region.owner, organization.userGroupId)).toEqual(gone);
    });

    it('take a member that is added at the same time with the group', async () => {
      const join = () => region.query`
        insert into user_group_members (organization_id, user_group_id, identity_id)
        values (${organization.organizationId}, ${organization.userGroupId}, ${organization.callerId})
        on conflict do nothing`;
      await region.query`delete from user_group_members where identity_id = ${organization.callerId}`;
      const joining = join().catch((error: { sqlState: string }) => expect(error.sqlState).toBe('23503'));
      expect(await deleteUserGroup(deletion())).toEqual(ok('deleted'));
      await joining;
      expect(await traces(region.owner, organization.userGroupId)).toEqual(gone);
    });
  });
});
