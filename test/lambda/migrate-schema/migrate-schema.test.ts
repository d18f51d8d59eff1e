import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { databaseRoles } from '../../../lambda/database/environment';
import { migrations } from '../../../lambda/database/migrations';
import { sql } from '../../../lambda/database/sql';
import { migrateSchema } from '../../../lambda/migrate-schema/migrate-schema';
import { ok } from '../../../lambda/shared/result';
import { rows } from '../../support/organization';
import { type RegionDatabase, startRegionDatabase } from '../../support/region-database';

it('the list names every file of the folder, in order', () => {
  const files = readdirSync(join(__dirname, '../../../lambda/database/migrations'))
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.slice(0, -'.sql'.length));
  expect(migrations.map(({ name }) => name)).toEqual(files.sort());
});

describe.each(['data-api', 'direct'] as const)('a migration with %s access', (access) => {
  let region: RegionDatabase;
  beforeAll(async () => {
    region = await startRegionDatabase(access);
    await rows(region.owner, sql`create role reader`);
  });
  afterAll(() => region.stop());
  beforeEach(async () => {
    await rows(region.owner, sql`drop schema public cascade`);
    await rows(region.owner, sql`create schema public`);
    await rows(region.owner, sql`drop owned by reader`);
    await rows(region.owner, sql`drop role reader`);
  });

  const first = { name: '0001-first', text: 'create table first (id int primary key);' };
  const second = {
    name: '0002-second',
    text: 'create table second (id int); insert into second values (1);',
  };
  const broken = {
    name: '0002-broken',
    text: 'create table half (id int);\ninsert into nowhere values (1);',
  };
  const password = access === 'data-api' ? { password: "it's %I ; --" } : {};
  const migrate = (...files: (typeof first)[]) =>
    migrateSchema(region.owner, files, [{ name: 'reader', ...password }]);
  const tables = async () =>
    (
      await rows(region.owner, sql`select tablename from pg_tables where schemaname = 'public' order by 1`)
    ).map(({ tablename }) => tablename);

  it('applies each file once, and only what is new', async () => {
    expect(await migrate(first)).toEqual(ok(['0001-first']));
    expect(await migrate(first)).toEqual(ok([]));
    expect(await migrate(first, second)).toEqual(ok(['0002-second']));
    expect(await tables()).toEqual(['first', 'schema_migrations', 'second']);
  });

  it('leaves nothing of a failing file, keeps those before it, and says which and why', async () => {
    expect(await migrate(first, broken)).toMatchObject({
      ok: false,
      error: {
        kind: 'refused',
        migration: '0002-broken',
        sqlState: '42P01',
        message: expect.stringContaining('nowhere'),
      },
    });
    expect(await tables()).toEqual(['first', 'schema_migrations']);
    expect(await migrate(first, { ...broken, text: 'create table half (id int);' })).toEqual(
      ok(['0002-broken']),
    );
  });

  it('refuses a file that was edited after it was applied', async () => {
    await migrate(first);
    expect(await migrate({ ...first, text: `${first.text} ` })).toMatchObject({
      ok: false,
      error: { kind: 'edited', migration: '0001-first' },
    });
  });

  it('leaves a database that is ahead of the code as it is', async () => {
    await migrate(first, second);
    expect(await migrate(first)).toEqual(ok([]));
    expect(await tables()).toContain('second');
  });

  it('applies a file once when two migrations run at the same time', async () => {
    const outcomes = await Promise.all([migrate(first, second), migrate(first, second)]);
    const applied = outcomes.flatMap<unknown>((outcome) => (outcome.ok ? outcome.value : [outcome.error]));
    expect(applied.sort()).toEqual(['0001-first', '0002-second']);
  });

  it('applies the schema of the product to an empty database', async () => {
    await region.migrate();
    expect(await tables()).toEqual(
      expect.arrayContaining(['audit_records', 'user_groups', 'used_user_actions']),
    );
  });
});

describe('a role', () => {
  let region: RegionDatabase;
  beforeAll(async () => {
    region = await startRegionDatabase('data-api');
    await region.migrate();
  });
  afterAll(() => region.stop());

  it.each(databaseRoles)(
    '%s is no superuser, makes nothing, and cannot read what it does not need',
    async (role) => {
      const [attributes] = await rows(
        region.owner,
        sql`select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as powerful
        from pg_roles where rolname = ${role}`,
      );
      expect(attributes).toEqual({ powerful: false });
      const database = region.as(role);
      await expect(database.execute(sql`create table mine (id int)`)).rejects.toMatchObject({
        sqlState: '42501',
      });
      await expect(database.execute(sql`create temporary table mine (id int)`)).rejects.toMatchObject({
        sqlState: '42501',
      });
      await expect(database.execute(sql`select count(*) from schema_migrations`)).rejects.toMatchObject({
        sqlState: '42501',
      });
    },
  );

  it.each([
    ['reading audit records', sql`select outcome, request_id from audit_records`],
    ['changing an audit record', sql`update audit_records set outcome = 'x'`],
    ['deleting audit records', sql`delete from audit_records`],
    ['deleting identities', sql`delete from identities`],
    ['activating an identity', sql`update identities set active = true`],
    ['granting itself a permission', sql`insert into permission_assignments (assignment_id) values ('x')`],
    ['changing a permission', sql`update permissions set operations = array['*']`],
    ['adding members', sql`insert into user_group_members (organization_id) values ('x')`],
    ['deleting members by itself', sql`delete from user_group_members`],
    ['making groups', sql`insert into user_groups (user_group_id) values ('x')`],
    ['forgetting used user actions', sql`delete from used_user_actions`],
    ['reading organizations', sql`select * from organizations`],
    ['reading webhooks', sql`select * from webhooks`],
  ])('delete_user_group is refused %s', async (_, statement) => {
    await expect(region.as('delete_user_group').execute(statement)).rejects.toMatchObject({
      sqlState: '42501',
    });
  });

  it.each(['fan_out_event', 'deliver_webhook', 'purge_expired', 'run_operation'] as const)(
    '%s is refused to delete a user group',
    async (role) => {
      await expect(region.as(role).execute(sql`delete from user_groups`)).rejects.toMatchObject({
        sqlState: '42501',
      });
    },
  );

  it('run_operation is refused to change the audit or to touch used user actions', async () => {
    const database = region.as('run_operation');
    await expect(database.execute(sql`delete from audit_records`)).rejects.toMatchObject({
      sqlState: '42501',
    });
    await expect(database.execute(sql`delete from used_user_actions`)).rejects.toMatchObject({
      sqlState: '42501',
    });
  });

  it('moves from passwords to tokens and back without losing its grants', async () => {
    await rows(region.owner, sql`create role rds_iam`);
    const signsInWithToken = async () =>
      (await rows(region.owner, sql`select pg_has_role('fan_out_event', 'rds_iam', 'member') as iam`))[0]
        ?.iam;
    expect(await migrateSchema(region.owner, migrations, [{ name: 'fan_out_event' }])).toEqual(ok([]));
    expect(await signsInWithToken()).toBe(true);
    expect(await migrateSchema(region.owner, migrations, [{ name: 'fan_out_event', password: 'x' }])).toEqual(
      ok([]),
    );
    expect(await signsInWithToken()).toBe(false);
  });
});
