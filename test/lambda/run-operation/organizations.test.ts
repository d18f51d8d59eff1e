import { Client } from 'pg';
import { newId } from '../../../domain/ids';
import { eventually } from '../../support/eventually';
import type { Organization } from '../../support/organization';
import { refused, useOperations } from './operations';

const { region, log, invoke, run } = useOperations();
const seed = (ephemeral = false) => run<Organization>('seed', { userGroupName: 'Approvers', ephemeral });

const add = (organizationId: string) => invoke('add-user-group', { organizationId, userGroupName: 'Second' });

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

it('add-user-group adds a group with the same members, who hold the permission, and its name once, even concurrently', async () => {
  const first = await seed();
  const { organizationId } = first;
  const answers = await Promise.all([add(organizationId), add(organizationId)]);
  const result = { ...first, userGroupName: 'Second', userGroupId: expect.stringMatching(/^ug-/) };
  expect(answers).toContainEqual({ ok: true, result });
  expect(answers).toContainEqual(refused('user_group_name_taken'));
  expect(await count(organizationId)).toEqual({ ...seeded, groups: 2, members: 6, assignments: 5 });
});

it('add-user-group refuses an organization that is missing or lacks an active caller of each kind', async () => {
  const { organizationId, serviceAccountId } = await seed();
  await region.query`update identities set active = false where identity_id = ${serviceAccountId}`;
  for (const id of [organizationId, newId('or')])
    expect(await add(id)).toEqual(refused('organization_not_seeded'));
  expect(await count(organizationId)).toEqual(seeded);
});

it('remove-ephemeral-organizations removes all rows of the organization and of those older than a day', async () => {
  const make = async (ephemeral = true) => {
    const { organizationId } = await seed(ephemeral);
    await run('add-webhook', { organizationId, url: 'https://hooks.customer.com/' });
    return organizationId;
  };
  const remove = (organizationId: string) => invoke('remove-ephemeral-organizations', { organizationId });
  const [named, old, recent, real] = [await make(), await make(), await make(), await make(false)];
  await region.query`
    update organizations set created_at = now() - interval '25 hours' where organization_id in (${old}, ${real})`;
  const removed = expect.arrayContaining([named, old]);
  expect(await remove(named)).toEqual({ ok: true, result: { removed } });
  expect(await remove(named)).toEqual({ ok: true, result: { removed: [] } });
  const whole = { ...seeded, webhooks: 1 };
  const none = Object.fromEntries(Object.keys(whole).map((table) => [table, 0]));
  expect(await Promise.all([named, old, recent, real].map(count))).toEqual([none, none, whole, whole]);
  expect(await remove(real)).toEqual(refused('organization_not_ephemeral'));
});

it('remove-ephemeral-organizations waits for a concurrent insert, and removes that row too', async () => {
  const { organizationId } = await seed(true);
  const { host, port, database, superuser: user, password } = region.postgres;
  const other = new Client({ host, port, database, user, password });
  await other.connect();
  try {
    await other.query('begin');
    const insert = "insert into webhooks (webhook_id, organization_id, url) values ($1, $2, 'https://a')";
    await other.query(insert, [newId('wh'), organizationId]);
    const removing = invoke('remove-ephemeral-organizations', { organizationId });
    const waiting = 'select 1 from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))';
    await eventually(async () => (await other.query(waiting)).rowCount === 1);
    await other.query('commit');
    expect(await removing).toMatchObject({ ok: true, result: { removed: [organizationId] } });
  } finally {
    await other.end();
  }
});

it('describe-identity returns organization and kind; operations are logged without their input', async () => {
  const { organizationId, endUserId: identityId } = await seed();
  const identity = { identityId, organizationId, kind: 'EndUser', active: true };
  const operation = 'describe-identity';
  log.clear();
  expect(await run(operation, { identityId })).toEqual(identity);
  expect(await invoke(operation, { identityId: newId('us') })).toEqual(refused('identity_not_found'));
  expect(log.lines).toEqual([
    { message: 'Operation completed', logCode: 'OPERATION_COMPLETED', operation },
    { message: 'Operation refused', logCode: 'OPERATION_REFUSED', operation, code: 'identity_not_found' },
  ]);
});

it('list-audit-records lists those of a group, latest first, even if its organization was removed', async () => {
  const [organizationId, identityId, subjectId] = [newId('or'), newId('us'), newId('ug')];
  await region.query`
    insert into audit_records (occurred_at, organization_id, identity_id, operation, subject_id, subject_name,
      outcome, request_id, user_action_id)
    select occurred_at, ${organizationId}, ${identityId}, 'Auth:UserGroups:Delete', ${subjectId}, 'Approvers', 'deleted',
      request_id, request_id
    from (values (timestamptz '2026-11-20 10:00:00.123456+00', 'first'), ('2026-11-20 10:00:00+00', 'second'))
      request (occurred_at, request_id)`;
  const ids = { organizationId, identityId, subjectId };
  const record = {
    ...ids,
    operation: 'Auth:UserGroups:Delete',
    subjectName: 'Approvers',
    outcome: 'deleted',
  };
  const list = (userGroupId: string) => invoke('list-audit-records', { userGroupId });
  const records = [
    { ...record, date: '2026-11-20T10:00:00.000Z', requestId: 'second' },
    { ...record, date: '2026-11-20T10:00:00.123Z', requestId: 'first' },
  ];
  expect(await list(subjectId)).toEqual({ ok: true, result: { records } });
  const { userGroupId } = await seed();
  expect(await list(userGroupId)).toEqual({ ok: true, result: { records: [] } });
  expect(await list(newId('ug'))).toEqual(refused('user_group_not_found'));
});
