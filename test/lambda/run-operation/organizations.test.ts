import { newId } from '../../../domain/ids';
import type { Organization } from '../../support/organization';
import { refused, useOperations } from './operations';

const { region, log, invoke, run } = useOperations();
const seed = (userGroupName = 'Approvers', ephemeral = false) =>
  run<Organization>('seed', { userGroupName, ephemeral });

/** How many rows of each table belong to the organization. */
const count = async (organizationId: string) => {
  const [row] = await region.query`
    select
      (select count(*)::int from organizations where organization_id = id) as organizations,
      (select count(*)::int from identities where organization_id = id) as identities,
      (select count(*)::int from user_groups where organization_id = id) as groups,
      (select count(*)::int from user_group_members where organization_id = id) as members,
      (select count(*)::int from permissions where organization_id = id) as permissions,
      (select count(*)::int from permission_assignments where organization_id = id) as assignments,
      (select count(*)::int from webhooks where organization_id = id) as webhooks
    from (select ${organizationId}::text as id) wanted`;
  return row;
};
const seeded = {
  ...{ organizations: 1, identities: 3, groups: 1, members: 3 },
  ...{ permissions: 1, assignments: 4, webhooks: 0 },
};

it('seed creates a group with three members, who all hold the permission', async () => {
  const userGroupName = `'); drop table user_groups; -- :p1 $1 ${'😀'.repeat(200)}`;
  const made = await seed(userGroupName);
  const members = await region.query`
    select kind, identity_id, active, user_groups.name from identities
      join user_group_members using (organization_id, identity_id)
      join user_groups using (organization_id, user_group_id)
      join permission_assignments using (organization_id, identity_id)
      join permissions using (organization_id, permission_id)
    where user_group_members.user_group_id = ${made.userGroupId} and 'Auth:UserGroups:Delete' = any (operations)
    order by kind`;
  const member = { active: true, name: userGroupName };
  expect(members).toEqual([
    { kind: 'CustomerEmployee', identity_id: made.callerId, ...member },
    { kind: 'EndUser', identity_id: made.endUserId, ...member },
    { kind: 'ServiceAccount', identity_id: made.serviceAccountId, ...member },
  ]);
  expect(await count(made.organizationId)).toEqual(seeded);
});

describe('add-user-group', () => {
  const add = (organizationId: string, userGroupName = 'Second') =>
    invoke('add-user-group', { organizationId, userGroupName });

  it('adds a group with the same members and a separate assignment', async () => {
    const first = await seed();
    expect(await add(first.organizationId)).toEqual({
      ok: true,
      result: { ...first, userGroupName: 'Second', userGroupId: expect.stringMatching(/^ug-/) },
    });
    const expected = { ...seeded, groups: 2, members: 6, assignments: 5 };
    expect(await count(first.organizationId)).toEqual(expected);
  });

  it('refuses the name of another group, even when both are added concurrently', async () => {
    const { organizationId } = await seed('Taken');
    expect(await add(organizationId, 'Taken')).toEqual(
      refused('user_group_name_taken', expect.stringContaining('"Taken"')),
    );
    const answers = await Promise.all([add(organizationId), add(organizationId)]);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  });

  it('refuses an organization that is missing or lacks an active caller of each kind', async () => {
    const { organizationId, serviceAccountId } = await seed();
    await region.query`update identities set active = false where identity_id = ${serviceAccountId}`;
    for (const id of [organizationId, newId('or')])
      expect(await add(id)).toEqual(refused('organization_not_seeded'));
    expect(await count(organizationId)).toEqual(seeded);
  });
});

describe('remove-ephemeral-organizations', () => {
  const make = async (ephemeral: boolean) => {
    const { organizationId } = await seed('Approvers', ephemeral);
    await run('add-webhook', { organizationId, url: 'https://hooks.customer.com/' });
    return organizationId;
  };
  const remove = (organizationId: string) => invoke('remove-ephemeral-organizations', { organizationId });
  const whole = { ...seeded, webhooks: 1 };
  const none = Object.fromEntries(Object.keys(whole).map((table) => [table, 0]));

  it('removes all rows of the organization and of those older than a day, once, and no others', async () => {
    const [named, old, recent] = [await make(true), await make(true), await make(true)];
    const real = await make(false);
    await region.query`
      update organizations set created_at = now() - interval '25 hours' where organization_id in (${old}, ${real})`;
    const removed = expect.arrayContaining([named, old]);
    expect(await remove(named)).toEqual({ ok: true, result: { removed } });
    expect(await remove(named)).toEqual({ ok: true, result: { removed: [] } });
    expect([await count(named), await count(old)]).toEqual([none, none]);
    expect([await count(recent), await count(real)]).toEqual([whole, whole]);
    expect(await remove(real)).toEqual(refused('organization_not_ephemeral', expect.stringContaining(real)));
  });
});

it('describe-identity returns organization and kind, or names the environment', async () => {
  const { organizationId, endUserId: identityId } = await seed();
  const identity = { identityId, organizationId, kind: 'EndUser', active: true };
  expect(await run('describe-identity', { identityId })).toEqual(identity);
  const unknown = newId('us');
  const message = expect.stringContaining(`${unknown} in environment test`);
  expect(await invoke('describe-identity', { identityId: unknown })).toEqual(
    refused('identity_not_found', message),
  );
});

it('list-audit-records lists those of a group, latest first, even if its organization was removed', async () => {
  const [organizationId, identityId, subjectId] = [newId('or'), newId('us'), newId('ug')];
  const common = { organizationId, identityId, operation: 'Auth:UserGroups:Delete', subjectId };
  for (const [requestId, date] of Object.entries({ first: '10:00:00.123456', second: '10:00:00' }))
    await region.query`
      insert into audit_records (occurred_at, organization_id, identity_id, operation, subject_id, subject_name,
        outcome, request_id, user_action_id)
      values (${`2026-11-20 ${date}+00`}::timestamptz, ${organizationId}, ${identityId}, 'Auth:UserGroups:Delete',
        ${subjectId}, 'Approvers', 'deleted', ${requestId}, ${requestId})`;
  const record = { ...common, subjectName: 'Approvers', outcome: 'deleted' };
  expect(await run('list-audit-records', { userGroupId: subjectId })).toEqual({
    records: [
      { ...record, date: '2026-11-20T10:00:00.000Z', requestId: 'second' },
      { ...record, date: '2026-11-20T10:00:00.123Z', requestId: 'first' },
    ],
  });
  const { userGroupId } = await seed();
  expect(await run('list-audit-records', { userGroupId })).toEqual({ records: [] });
  expect(await invoke('list-audit-records', { userGroupId: newId('ug') })).toEqual(
    refused('user_group_not_found'),
  );
});

it('logs operations by name, without their input', async () => {
  const { organizationId } = await seed('Secret plans');
  await invoke('add-user-group', { organizationId, userGroupName: 'Secret plans' });
  const added = { operation: 'add-user-group', code: 'user_group_name_taken' };
  expect(log.lines).toEqual([
    { message: 'Operation completed', logCode: 'OPERATION_COMPLETED', operation: 'seed' },
    { message: 'Operation refused', logCode: 'OPERATION_REFUSED', ...added },
  ]);
});
