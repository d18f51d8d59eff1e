import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../../lambda/database/database';
import { deleteInDatabase } from '../../lambda/delete-user-group/delete-in-database';
import { projectRoot } from '../architecture/sources';
import { addGroup, deletionOf, type Organization, rows, seedOrganization } from '../support/organization';
import { type RegionDatabase, useMigratedDatabase } from '../support/region-database';

const [missing = '', copy = '', compare = ''] = ['deleted', 'copy', 'compare'].map((name) =>
  readFileSync(join(projectRoot, `docs/copy-groups/${name}.sql`), 'utf8'),
);

const serving = useMigratedDatabase();
const restored = useMigratedDatabase();
let organization: Organization;
let large: string;

/** Runs a statement with an operator's values. */
const read = (
  { owner }: Pick<RegionDatabase, 'owner'>,
  statement: string,
  groups: readonly string[] = [],
) => {
  const text = statement
    .replaceAll('or-…', organization.organizationId)
    .replaceAll('{ug-…}', `{${groups.join(',')}}`)
    .replaceAll('2026-11-21T10:30:00Z', '2020-01-01T00:00:00Z');
  return rows(owner, { text: [text], values: [] });
};

/** In order, in one transaction, as the runbook's `run` and `psql` do. */
const write = (texts: readonly Row[]) =>
  serving.owner.transaction(async (transaction) => {
    for (const { text } of texts) await rows(transaction, { text: [String(text)], values: [] });
    return { ok: true, value: undefined };
  });

const tables = [
  ...['organizations', 'identities', 'permissions', 'user_groups', 'user_group_members'],
  'permission_assignments',
];

/** All rows of the organization as JSON, but for its audit records and used user actions. */
async function content() {
  const lines = tables.map(async (table) => {
    const select = `select to_jsonb(t)::text as line from ${table} t where organization_id = 'or-…' order by 1`;
    return [table, (await read(serving, select)).map(({ line }) => String(line))] as const;
  });
  return Object.fromEntries(await Promise.all(lines));
}

beforeAll(async () => {
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
  // The second cluster, as restored: the same rows, to the microsecond.
  for (const [table, lines] of Object.entries(await content()))
    await rows(restored.owner, {
      text: [`insert into ${table} select * from jsonb_populate_recordset(null::${table}, `, '::jsonb)'],
      values: [`[${lines.join(',')}]`],
    });
});

it('restores deleted groups completely, changes no others, and keeps used user actions and audit records', async () => {
  const before = await content();
  const wanted = [organization.userGroupId, large];
  for (const userGroupId of wanted) {
    const deletion = deletionOf(organization, { userGroupId });
    const deleted = await deleteInDatabase(serving.as('delete_user_group'))(deletion);
    expect(deleted).toEqual({ ok: true, value: 'deleted' });
  }
  // Later changes to members and groups stay as in the serving cluster.
  await serving.query`delete from identities where identity_id = ${organization.endUserId}`;
  await serving.query`update user_groups set name = 'changed since' where name = 'stays'`;

  const found = await read(serving, missing);
  expect(found.map(({ subject_id }) => subject_id).sort()).toEqual([...wanted].sort());
  const texts = await read(restored, copy, wanted);
  // Two groups, the members of one and of the other in pieces of 200, two assignments.
  expect(texts).toHaveLength(2 + 1 + 3 + 2);
  for (const { text } of texts) expect(Buffer.byteLength(String(text))).toBeLessThan(64_000);
  await write(texts);

  const expected = Object.entries(before).map(([table, lines]) => [
    table,
    lines
      .filter((line) => !line.includes(organization.endUserId))
      .map((line) => line.replace('"name": "stays"', '"name": "changed since"'))
      .sort(),
  ]);
  const after = Object.entries(await content()).map(([table, lines]) => [table, lines.sort()]);
  expect(after).toEqual(expected);
  expect(await read(serving, missing)).toEqual([]);
  const kept = await serving.query`
    select (select count(*)::int from audit_records where outcome = 'deleted') as records,
      (select count(*)::int from used_user_actions) as used`;
  expect(kept).toEqual([{ records: 2, used: 2 }]);
  expect(await read(serving, compare, wanted)).toMatchObject(
    wanted.sort().map((user_group_id) => ({ user_group_id })),
  );
});

it('writes nothing when one of the groups exists, and copies only groups of that organization', async () => {
  const other = await addGroup(restored.owner, organization, 'other');
  const before = await content();
  await expect(write(await read(restored, copy, [other, large]))).rejects.toThrow(/user_groups_pkey/);
  expect(await content()).toEqual(before);
  const another = await seedOrganization(restored.owner);
  expect(await read(restored, copy, [another.userGroupId])).toEqual([]);
});
