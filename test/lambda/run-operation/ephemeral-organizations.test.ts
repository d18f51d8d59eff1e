import type { Database } from '../../../lambda/database/database';
import { type Statement, sql } from '../../../lambda/database/sql';
import { createHandler } from '../../../lambda/run-operation/handler';
import { newId } from '../../../lambda/shared/ids';
import { recordLog } from '../../support/log';
import { rows } from '../../support/organization';
import { type RegionDatabase, startRegionDatabase } from '../../support/region-database';

describe.each(['data-api', 'direct'] as const)('with the database adapter %s', (access) => {
  let region: RegionDatabase;
  let database: Database;
  beforeAll(async () => {
    region = await startRegionDatabase(access);
    await region.migrate();
    database = region.as('run_operation');
  });
  afterAll(() => region.stop());

  const invoke = (operation: string, input: Record<string, unknown>) =>
    createHandler({ ports: { database, environment: 'test' }, log: recordLog() })({ operation, input });

  /** An organization with everything that one can have. */
  async function make(ephemeral: boolean): Promise<string> {
    const answer = await invoke('seed', { userGroupName: 'Approvers', ephemeral });
    if (!answer.ok) throw new Error(answer.error.message);
    const { organizationId } = answer.result as { organizationId: string };
    await invoke('add-user-group', { organizationId, userGroupName: 'More' });
    const webhook = await invoke('add-webhook', { organizationId, url: 'https://hooks.customer.com/' });
    expect(webhook.ok).toBe(true);
    return organizationId;
  }

  /** Rows of the organization in each table that has some. */
  const traces = async (organizationId: string) => {
    const [counts] = await rows(
      region.owner,
      sql`
      select
        (select count(*)::int from organizations where organization_id = ${organizationId}) as organizations,
        (select count(*)::int from identities where organization_id = ${organizationId}) as identities,
        (select count(*)::int from user_groups where organization_id = ${organizationId}) as groups,
        (select count(*)::int from user_group_members where organization_id = ${organizationId}) as members,
        (select count(*)::int from permissions where organization_id = ${organizationId}) as permissions,
        (select count(*)::int from permission_assignments where organization_id = ${organizationId}) as assignments,
        (select count(*)::int from webhooks where organization_id = ${organizationId}) as webhooks`,
    );
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

  it('a throw-away organization goes with all that is its own, and no other does', async () => {
    const [removed, neighbour, real] = [await make(true), await make(true), await make(false)];
    expect(await remove(removed)).toEqual({ ok: true, result: { removed: [removed] } });
    expect(await traces(removed)).toEqual(gone);
    expect(await traces(neighbour)).toEqual(whole);
    expect(await traces(real)).toEqual(whole);
  });

  it('an organization that was not made to be thrown away is refused, and stays whole', async () => {
    const real = await make(false);
    expect(await remove(real)).toEqual({
      ok: false,
      error: { code: 'organization_not_ephemeral', message: expect.stringContaining(real) },
    });
    expect(await traces(real)).toEqual(whole);
  });

  it('removing twice, or what never was, changes nothing', async () => {
    const organizationId = await make(true);
    await remove(organizationId);
    expect(await remove(organizationId)).toEqual({ ok: true, result: { removed: [] } });
    expect(await remove(newId('or'))).toEqual({ ok: true, result: { removed: [] } });
  });

  it('one that was left behind goes along after a day; a real one never', async () => {
    const [left, recent, real] = [await make(true), await make(true), await make(false)];
    await rows(
      region.owner,
      sql`
      update organizations set created_at = now() - interval '25 hours'
      where organization_id in (${left}, ${real})`,
    );
    expect(await remove(newId('or'))).toEqual({ ok: true, result: { removed: [left] } });
    expect(await traces(left)).toEqual(gone);
    expect(await traces(recent)).toEqual(whole);
    expect(await traces(real)).toEqual(whole);
  });

  it.each<[string, Statement]>([
    ['organizations', sql`delete from organizations where throw_away`],
    ['identities', sql`delete from identities`],
    ['permissions', sql`delete from permissions`],
    ['webhooks', sql`delete from webhooks`],
    ['organizations by saying afterwards that they may go', sql`update organizations set throw_away = true`],
  ])('the role of the function is refused to delete %s itself', async (_, statement) => {
    await expect(database.execute(statement)).rejects.toMatchObject({ sqlState: '42501' });
  });

  it.each(['delete_user_group', 'fan_out_event', 'deliver_webhook', 'purge_expired'] as const)(
    '%s is refused to remove any',
    async (role) => {
      const removal = sql`select remove_throw_away_organizations('or-1') as removed`;
      await expect(region.as(role).execute(removal)).rejects.toMatchObject({ sqlState: '42501' });
    },
  );

  it.each([[1], ['yes'], [null]])('"ephemeral" %j is refused', async (ephemeral) => {
    expect(await invoke('seed', { userGroupName: 'Approvers', ephemeral })).toMatchObject({
      ok: false,
      error: { code: 'input_invalid' },
    });
  });
});
