import { deleteInDatabase } from '../../lambda/delete-user-group/delete-in-database';
import { readSource } from '../architecture/sources';
import { addGroup, deletionOf, rows, seedOrganization } from '../support/organization';
import { type RegionDatabase, useMigratedDatabase } from '../support/region-database';

const serving = useMigratedDatabase();
const restored = useMigratedDatabase();
const statement = (name: 'deleted' | 'copy' | 'compare') => readSource(`docs/copy-groups/${name}.sql`);

const tables =
  'organizations identities permissions user_groups user_group_members permission_assignments'.split(' ');

it('restores deleted groups completely, changes no others, and keeps used user actions and audit records', async () => {
  const organization = await seedOrganization(serving.owner);
  const { organizationId, userGroupId, endUserId } = organization;
  const large = await addGroup(serving.owner, organization, "O'Brien's\n\\ group: :p1 %s {x}");
  await addGroup(serving.owner, organization, 'stays');
  await serving.query`
    with added as (
      insert into identities (identity_id, organization_id, kind)
      select 'us-aaaaa-bbbbb-' || lpad(n::text, 16, '0'), ${organizationId}, 'EndUser'
      from generate_series(1, 450) n returning organization_id, identity_id
    )
    insert into user_group_members (organization_id, identity_id, user_group_id)
    select organization_id, identity_id, ${large} from added`;

  /** Runs a statement with an operator's values. */
  const read = ({ owner }: Pick<RegionDatabase, 'owner'>, text: string, groups: readonly string[] = []) => {
    const filled = text
      .replaceAll('or-…', organizationId)
      .replaceAll('{ug-…}', `{${groups.join(',')}}`)
      .replaceAll('2026-11-21T10:30:00Z', '2020-01-01T00:00:00Z');
    return rows(owner, { text: [filled], values: [] });
  };
  /** All rows of the organization as JSON, but for its audit records and used user actions. */
  const content = () =>
    Promise.all(
      tables.map(async (table) => {
        const select = `select to_jsonb(t)::text as line from ${table} t where organization_id = 'or-…'`;
        return [table, (await read(serving, select)).map(({ line }) => String(line)).sort()] as const;
      }),
    );
  const before = await content();
  // The second cluster, as restored: the same rows, to the microsecond.
  for (const [table, lines] of before)
    await rows(restored.owner, {
      text: [`insert into ${table} select * from jsonb_populate_recordset(null::${table}, `, '::jsonb)'],
      values: [`[${lines.join(',')}]`],
    });

  const wanted = [userGroupId, large].sort();
  for (const each of wanted)
    await deleteInDatabase(serving.as('delete_user_group'))(deletionOf(organization, { userGroupId: each }));
  // Later changes to members and groups stay as in the serving cluster.
  await serving.query`delete from identities where identity_id = ${endUserId}`;
  await serving.query`update user_groups set name = 'changed since' where name = 'stays'`;

  const found = await read(serving, statement('deleted'));
  expect(found.map(({ subject_id }) => subject_id).sort()).toEqual(wanted);
  const another = await seedOrganization(restored.owner);
  const texts = await read(restored, statement('copy'), [...wanted, another.userGroupId]);
  // Two groups, the members of one and of the other in pieces of 200, two assignments.
  expect(texts).toHaveLength(2 + 1 + 3 + 2);
  for (const { text } of texts) {
    expect(Buffer.byteLength(String(text))).toBeLessThan(64_000);
    await rows(serving.owner, { text: [String(text)], values: [] });
  }

  const expected = before.map(([table, lines]) => {
    const left = lines.filter((line) => !line.includes(endUserId));
    return [table, left.map((line) => line.replace('"name": "stays"', '"name": "changed since"')).sort()];
  });
  expect(await content()).toEqual(expected);
  expect(await read(serving, statement('deleted'))).toEqual([]);
  const kept = await serving.query`
    select (select count(*)::int from audit_records where outcome = 'deleted') as records,
      (select count(*)::int from used_user_actions) as used`;
  expect(kept).toEqual([{ records: 2, used: 2 }]);
  const compared = await read(serving, statement('compare'), wanted);
  expect(compared.map(({ user_group_id }) => user_group_id)).toEqual(wanted);
});
