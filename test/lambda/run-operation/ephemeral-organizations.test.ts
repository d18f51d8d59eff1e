import { newId } from '../../../domain/ids';
import { refused, useOperations } from './operations';

const { region, invoke, done } = useOperations();

/** An organization with everything that one can have. */
async function make(ephemeral: boolean): Promise<string> {
  const { organizationId } = await done('seed', { userGroupName: 'Approvers', ephemeral });
  await done('add-user-group', { organizationId, userGroupName: 'More' });
  await done('add-webhook', { organizationId, url: 'https://hooks.customer.com/' });
  return String(organizationId);
}

/** Rows of the organization in each table that has some. */
const traces = async (organizationId: string) => {
  const [counts] = await region.query`
      select
        (select count(*)::int from organizations where organization_id = ${organizationId}) as organizations,
        (select count(*)::int from identities where organization_id = ${organizationId}) as identities,
        (select count(*)::int from user_groups where organization_id = ${organizationId}) as groups,
        (select count(*)::int from user_group_members where organization_id = ${organizationId}) as members,
        (select count(*)::int from permissions where organization_id = ${organizationId}) as permissions,
        (select count(*)::int from permission_assignments where organization_id = ${organizationId}) as assignments,
        (select count(*)::int from webhooks where organization_id = ${organizationId}) as webhooks`;
  return counts;
};
const whole = {
  organizations: 1,
  identities: 3,
  groups: 2,
  members: 6,
  permissions: 1,
  assignments: 5,
  webhooks: 1,
};
const gone = Object.fromEntries(Object.keys(whole).map((name) => [name, 0]));
const remove = (organizationId: string) => invoke('remove-ephemeral-organizations', { organizationId });

it('an ephemeral organization is removed with all that belongs to it, and no other is', async () => {
  const [removed, neighbour, real] = [await make(true), await make(true), await make(false)];
  expect(await remove(removed)).toEqual({ ok: true, result: { removed: [removed] } });
  expect(await traces(removed)).toEqual(gone);
  expect(await traces(neighbour)).toEqual(whole);
  expect(await traces(real)).toEqual(whole);
});

it('an organization that is not ephemeral is refused, and stays whole', async () => {
  const real = await make(false);
  expect(await remove(real)).toEqual(refused('organization_not_ephemeral', expect.stringContaining(real)));
  expect(await traces(real)).toEqual(whole);
});

it('removing one twice, or one that does not exist, changes nothing', async () => {
  const organizationId = await make(true);
  await remove(organizationId);
  expect(await remove(organizationId)).toEqual({ ok: true, result: { removed: [] } });
  expect(await remove(newId('or'))).toEqual({ ok: true, result: { removed: [] } });
});

it('one that was left behind is removed as well after a day; a real one never', async () => {
  const [left, recent, real] = [await make(true), await make(true), await make(false)];
  await region.query`
      update organizations set created_at = now() - interval '25 hours'
      where organization_id in (${left}, ${real})`;
  expect(await remove(newId('or'))).toEqual({ ok: true, result: { removed: [left] } });
  expect(await traces(left)).toEqual(gone);
  expect(await traces(recent)).toEqual(whole);
  expect(await traces(real)).toEqual(whole);
});

it.each([[1], ['yes'], [null]])('"ephemeral" %j is refused', async (ephemeral) => {
  expect(await invoke('seed', { userGroupName: 'Approvers', ephemeral })).toEqual(refused('input_invalid'));
});
