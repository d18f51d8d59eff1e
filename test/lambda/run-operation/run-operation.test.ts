import { newId } from '../../../domain/ids';
import { type Organization, traces } from '../../support/organization';
import { refused, useOperations } from './operations';

const { region, log, invoke, done } = useOperations();
const seed = (userGroupName = 'Approvers') => done<Organization>('seed', { userGroupName });

describe('seed', () => {
  it('makes a group with three members, each holding the permission directly', async () => {
    const made = await seed('Approvers');
    const format = '[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$';
    expect(made).toEqual({
      organizationId: expect.stringMatching(`^or-${format}`),
      callerId: expect.stringMatching(`^us-${format}`),
      serviceAccountId: expect.stringMatching(`^sa-${format}`),
      endUserId: expect.stringMatching(`^us-${format}`),
      userGroupId: expect.stringMatching(`^ug-${format}`),
      userGroupName: 'Approvers',
    });
    const members = await region.query`
      select kind, identity_id, active from identities
        join user_group_members using (organization_id, identity_id)
        join permission_assignments using (organization_id, identity_id)
        join permissions using (organization_id, permission_id)
      where user_group_members.user_group_id = ${made.userGroupId} and ${'Auth:UserGroups:Delete'} = any (operations)
      order by kind`;
    expect(members).toEqual([
      { kind: 'CustomerEmployee', identity_id: made.callerId, active: true },
      { kind: 'EndUser', identity_id: made.endUserId, active: true },
      { kind: 'ServiceAccount', identity_id: made.serviceAccountId, active: true },
    ]);
  });

  it('gives the group an assignment, so that its deletion has one to revoke', async () => {
    const { userGroupId } = await seed();
    expect(
      await region.query`select identity_id from permission_assignments where user_group_id = ${userGroupId}`,
    ).toEqual([{ identity_id: null }]);
  });

  it.each([
    ['a name that is missing', {}],
    ['an empty name', { userGroupName: '' }],
    ['a name of 257 characters', { userGroupName: 'x'.repeat(257) }],
    ['a name with a null character', { userGroupName: 'a\0b' }],
    ['a name with half a surrogate pair', { userGroupName: 'a\ud83d' }],
    ['a field that it does not know', { userGroupName: 'a', name: 'b' }],
    ['no object', 'a'],
  ])('refuses %s', async (_, input) => {
    expect(await invoke('seed', input)).toEqual(refused('input_invalid'));
  });

  it('keeps a name as it is, whatever it looks like', async () => {
    const name = `'); drop table user_groups; -- :p1 $1 ${'😀'.repeat(200)}`;
    const { userGroupId, userGroupName } = await seed(name);
    expect(userGroupName).toBe(name);
    expect(await region.query`select name from user_groups where user_group_id = ${userGroupId}`).toEqual([
      { name },
    ]);
  });
});

describe('add-user-group', () => {
  const add = (organizationId: string, userGroupName: string) =>
    invoke('add-user-group', { organizationId, userGroupName });

  it('adds a group for the identities that the organization has', async () => {
    const first = await seed('First');
    const answer = await add(first.organizationId, 'Second');
    expect(answer).toEqual({
      ok: true,
      result: { ...first, userGroupName: 'Second', userGroupId: expect.stringMatching(/^ug-/) },
    });
    const { userGroupId } = (answer as { result: Organization }).result;
    expect(await traces(region.owner, userGroupId)).toEqual({
      groups: 1,
      members: 3,
      assignments: 1,
      deletions: 0,
    });
  });

  it('refuses a name that the organization has, and takes it again once it is free', async () => {
    const { organizationId, userGroupId } = await seed('Taken');
    expect(await add(organizationId, 'Taken')).toEqual(
      refused('user_group_name_taken', expect.stringContaining('"Taken"')),
    );
    await region.query`delete from user_groups where user_group_id = ${userGroupId}`;
    expect(await add(organizationId, 'Taken')).toMatchObject({ ok: true });
  });

  it('refuses an organization that does not exist', async () => {
    expect(await add(newId('or'), 'Second')).toEqual(refused('organization_not_seeded'));
  });

  it('refuses an organization without an active caller of each kind, and adds nothing to it', async () => {
    const { organizationId, serviceAccountId } = await seed();
    await region.query`update identities set active = false where identity_id = ${serviceAccountId}`;
    expect(await add(organizationId, 'Second')).toEqual(refused('organization_not_seeded'));
    expect(
      await region.query`select name from user_groups where organization_id = ${organizationId}`,
    ).toHaveLength(1);
  });

  it('adds one of two groups of one name that are asked for at once', async () => {
    const { organizationId } = await seed();
    const answers = await Promise.all([add(organizationId, 'Second'), add(organizationId, 'Second')]);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  });
});

describe('describe-identity', () => {
  const describeIdentity = (identityId: string) => invoke('describe-identity', { identityId });

  it('tells organization and kind', async () => {
    const { organizationId, endUserId: identityId } = await seed();
    expect(await describeIdentity(identityId)).toEqual({
      ok: true,
      result: { identityId, organizationId, kind: 'EndUser', active: true },
    });
  });

  it('names the environment in which there is no such identity', async () => {
    const identityId = newId('us');
    expect(await describeIdentity(identityId)).toEqual(
      refused('identity_not_found', expect.stringContaining(`${identityId} in environment test`)),
    );
  });

  it('refuses what is no id of an identity', async () => {
    expect(await describeIdentity(newId('ug'))).toEqual(
      refused('input_invalid', expect.stringContaining('"identityId" must be an id such as us-')),
    );
  });
});

describe('list-audit-records', () => {
  const list = (userGroupId: string) => invoke('list-audit-records', { userGroupId });

  it('lists what was done to a group, the latest first', async () => {
    const { organizationId, callerId, userGroupId } = await seed();
    for (const [action, date] of [
      ['first', '2026-11-20 10:00:00.123456+00'],
      ['second', '2026-11-20 10:00:00+00'],
    ] as const) {
      await region.query`
        insert into audit_records (occurred_at, organization_id, identity_id, operation, subject_id, subject_name,
          outcome, request_id, user_action_id)
        values (cast(${date} as timestamptz), ${organizationId}, ${callerId}, ${'Auth:UserGroups:Delete'}, ${userGroupId},
          'Approvers', 'deleted', ${action}, ${action})`;
    }
    const record = {
      date: '2026-11-20T10:00:00.000Z',
      organizationId,
      identityId: callerId,
      operation: 'Auth:UserGroups:Delete',
      subjectId: userGroupId,
      subjectName: 'Approvers',
      outcome: 'deleted',
      requestId: 'second',
    };
    expect(await list(userGroupId)).toEqual({
      ok: true,
      result: { records: [record, { ...record, date: '2026-11-20T10:00:00.123Z', requestId: 'first' }] },
    });
  });

  it('lists what was done to a group of an organization that is gone', async () => {
    const userGroupId = newId('ug');
    await region.query`
        insert into audit_records (organization_id, identity_id, operation, subject_id, outcome, request_id, user_action_id)
        values (${newId('or')}, 'us-1', 'Auth:UserGroups:Delete', ${userGroupId}, 'deleted', 'gone', 'gone')`;
    expect(await list(userGroupId)).toMatchObject({
      ok: true,
      result: { records: [{ requestId: 'gone' }] },
    });
  });

  it('lists nothing for a group of which nothing was recorded, and refuses an unknown one', async () => {
    const { userGroupId } = await seed();
    expect(await list(userGroupId)).toEqual({ ok: true, result: { records: [] } });
    const unknown = newId('ug');
    expect(await list(unknown)).toEqual(
      refused('user_group_not_found', expect.stringContaining(`${unknown} in environment test`)),
    );
  });
});

it('every operation is logged by name, without its input', async () => {
  const { organizationId } = await seed('Secret plans');
  await invoke('add-user-group', { organizationId, userGroupName: 'Secret plans' });
  expect(log.lines).toEqual([
    { message: 'Operation completed', logCode: 'OPERATION_COMPLETED', operation: 'seed' },
    {
      message: 'Operation refused',
      logCode: 'OPERATION_REFUSED',
      operation: 'add-user-group',
      code: 'user_group_name_taken',
    },
  ]);
});
