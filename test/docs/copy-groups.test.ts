import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '../../domain/ids';
import { type Row, sql } from '../../lambda/database/database';
import { deleteInDatabase } from '../../lambda/delete-user-group/delete-in-database';
import { addGroup, deletionOf, type Organization, rows, seedOrganization } from '../support/organization';
import { type RegionDatabase, startMigratedDatabase } from '../support/region-database';

const [missing, statements, comparison] = ['deleted', 'copy', 'compare'].map((name) =>
  readFileSync(join(__dirname, `../../docs/copy-groups/${name}.sql`), 'utf8'),
) as [string, string, string];

/** The statement with an operator's values. */
const filledIn = (text: string, organizationId: string, groups: readonly string[] = []) =>
  text
    .replaceAll('or-…', organizationId)
    .replaceAll('{ug-…}', `{${groups.join(',')}}`)
    .replaceAll('2026-11-21T10:30:00Z', '2020-01-01T00:00:00Z');

const asStatement = (text: string) => ({ text: [text], values: [] });

/** All rows of an organization except its audit records and used user actions. */
const content = async (region: RegionDatabase, { organizationId: id }: Organization) => {
  const tables = ['identities', 'permissions', 'user_groups', 'user_group_members', 'permission_assignments'];
  const entries = tables.map(async (table) => {
    const text = `select t::text as line from ${table} t where organization_id = '${id}' order by 1`;
    return [table, (await rows(region.owner, asStatement(text))).map(({ line }) => line)];
  });
  return Object.fromEntries(await Promise.all(entries)) as Record<string, readonly string[]>;
};

describe.each(['data-api', 'direct'] as const)('with access %s', (access) => {
  let serving: RegionDatabase;
  let copy: RegionDatabase;
  let organization: Organization;
  let large: string;

  const read = async (region: RegionDatabase, text: string, groups: readonly string[] = []) =>
    rows(region.owner, asStatement(filledIn(text, organization.organizationId, groups)));

  /** In order, in one transaction, as the runbook's `run` and `psql` do. */
  const write = (texts: readonly Row[]) =>
    serving.owner.transaction(async (transaction) => {
      for (const { text } of texts) await rows(transaction, asStatement(String(text)));
      return { ok: true, value: undefined };
    });

  const deleteGroup = (userGroupId: string) =>
    deleteInDatabase(serving.as('delete_user_group'))(deletionOf(organization, { userGroupId }));

  beforeAll(async () => {
    [serving, copy] = await Promise.all([startMigratedDatabase(access), startMigratedDatabase(access)]);
    organization = await seedOrganization(serving.owner);
    large = await addGroup(serving.owner, organization, "O'Brien's\n\\ group: :p1 %s {x}");
    await addGroup(serving.owner, organization, 'stays');
    await serving.query`
      with added as (
        insert into identities (identity_id, organization_id, kind)
        select 'us-aaaaa-bbbbb-' || lpad(n::text, 16, '0'), ${organization.organizationId}, 'EndUser'
        from generate_series(1, 450) n returning organization_id, identity_id
      )
      insert into user_group_members (organization_id, identity_id, user_group_id)
      select organization_id, identity_id, ${large} from added`;
    await copyEverything();
  });

  afterAll(async () => {
    await Promise.all([serving?.stop(), copy?.stop()]);
  });

  /** The second cluster, as restored: the same rows, to the microsecond. */
  async function copyEverything(): Promise<void> {
    const { organizationId: id } = organization;
    for (const table of [
      'organizations',
      'identities',
      'permissions',
      'user_groups',
      'user_group_members',
      'permission_assignments',
    ]) {
      const lines = await rows(
        serving.owner,
        asStatement(`select to_jsonb(t)::text as line from ${table} t where organization_id = '${id}'`),
      );
      const all = `[${lines.map(({ line }) => line).join(',')}]`;
      const insert = {
        text: [`insert into ${table} select * from jsonb_populate_recordset(null::${table}, `, '::jsonb)'],
        values: [all],
      };
      await rows(copy.owner, insert);
    }
  }

  it('restores deleted groups completely, changes no others, and keeps used user actions and audit records', async () => {
    const before = await content(serving, organization);
    const wanted = [organization.userGroupId, large];
    for (const group of wanted) expect(await deleteGroup(group)).toEqual({ ok: true, value: 'deleted' });
    // Later changes to members and groups stay as in the serving cluster.
    const [gone] = (await serving.query`
      delete from identities where identity_id = ${organization.endUserId} returning identity_id`) as [Row];
    await serving.query`update user_groups set name = 'changed since' where name = 'stays'`;
    const expected = Object.fromEntries(
      Object.entries(before).map(([table, lines]) => [
        table,
        lines
          .filter((line) => !line.includes(String(gone.identity_id)))
          .map((line) => line.replace(',stays,', ',"changed since",')),
      ]),
    );

    const found = await read(serving, missing);
    expect(found.map(({ subject_id }) => subject_id).sort()).toEqual([...wanted].sort());
    const texts = await read(copy, statements, wanted);
    expect(texts.length).toBe(2 + 1 + 3 + 2);
    for (const { text } of texts) expect(Buffer.byteLength(String(text))).toBeLessThan(64_000);
    await write(texts);

    const after = await content(serving, organization);
    for (const [table, lines] of Object.entries(after))
      expect([table, lines]).toEqual([table, [...(expected[table] ?? [])].sort()]);
    expect(await read(serving, missing)).toEqual([]);
    const kept = await serving.query`
      select (select count(*)::int from audit_records where outcome = 'deleted') as records,
        (select count(*)::int from used_user_actions) as used`;
    expect(kept).toEqual([{ records: 2, used: 2 }]);

    const [ofServing, ofCopy] = [
      await read(serving, comparison, wanted),
      await read(copy, comparison, wanted),
    ];
    const count = (found: readonly Row[], column: string) =>
      found.reduce((sum, row) => sum + Number(row[column]), 0);
    expect(ofServing.map(({ user_group_id }) => user_group_id)).toEqual(
      ofCopy.map(({ user_group_id }) => user_group_id),
    );
    expect(count(ofCopy, 'members') - count(ofServing, 'members')).toBe(1);
    expect(count(ofServing, 'assignments')).toBe(count(ofCopy, 'assignments'));
  });

  it('writes nothing when one of the groups exists, or its name is in use', async () => {
    const [other] = [await addGroup(copy.owner, organization)];
    const before = await content(serving, organization);
    const texts = await read(copy, statements, [other, large]);
    await expect(write(texts)).rejects.toThrow(/user_groups_pkey/);
    expect(await content(serving, organization)).toEqual(before);

    const [{ name } = { name: '' }] = await rows(
      copy.owner,
      sql`select name from user_groups where user_group_id = ${other}`,
    );
    await serving.query`
      insert into user_groups (user_group_id, organization_id, name)
      values (${newId('ug')}, ${organization.organizationId}, ${name ?? ''})`;
    const taken = await content(serving, organization);
    await expect(write(await read(copy, statements, [other]))).rejects.toThrow(
      /user_groups_organization_id_name_key/,
    );
    expect(await content(serving, organization)).toEqual(taken);
  });

  it('copies only groups of that organization', async () => {
    const another = await seedOrganization(copy.owner);
    expect(await read(copy, statements, [another.userGroupId])).toEqual([]);
  });
});
