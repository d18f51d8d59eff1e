import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from '../../../domain/result';
import { migrations } from '../../../lambda/database/migrations';
import { migrateSchema } from '../../../lambda/migrate-schema/migrate-schema';
import { type RegionDatabase, startRegionDatabase, useMigratedDatabase } from '../../support/region-database';

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
    await region.query`create role reader`;
  });
  afterAll(() => region.stop());
  beforeEach(async () => {
    await region.query`drop schema public cascade`;
    await region.query`create schema public`;
    await region.query`drop owned by reader`;
    await region.query`drop role reader`;
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
    (await region.query`select tablename::text from pg_tables where schemaname = 'public' order by 1`).map(
      ({ tablename }) => tablename,
    );

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
  const region = useMigratedDatabase();

  it('has its idle sessions ended where it connects directly, and left to the pool of the Data API', async () => {
    const settings = async (role: { readonly password?: string }) => {
      await migrateSchema(region.owner, migrations, [{ name: 'fan_out_event', ...role }]);
      const [found] = await region.query`
        select array_to_string(rolconfig, ',') as config from pg_roles where rolname = 'fan_out_event'`;
      return String(found?.config);
    };
    await region.query`create role rds_iam`;
    expect(await settings({})).toContain('idle_session_timeout=10min');
    const pooled = await settings({ password: 'x' });
    expect(pooled).not.toContain('idle_session_timeout');
    expect(pooled).toContain('statement_timeout=7s');
    await region.query`drop role rds_iam`;
  });

  it('moves from passwords to tokens and back without losing its grants', async () => {
    await region.query`create role rds_iam`;
    const signsInWithToken = async () => {
      const [role] = await region.query`select pg_has_role('fan_out_event', 'rds_iam', 'member') as iam`;
      return role?.iam;
    };
    expect(await migrateSchema(region.owner, migrations, [{ name: 'fan_out_event' }])).toEqual(ok([]));
    expect(await signsInWithToken()).toBe(true);
    expect(await migrateSchema(region.owner, migrations, [{ name: 'fan_out_event', password: 'x' }])).toEqual(
      ok([]),
    );
    expect(await signsInWithToken()).toBe(false);
  });
});
