import { fail, ok } from '../../domain/result';
import { StatementRefused, sql } from '../../lambda/database/database';
import { type RegionDatabase, startRegionDatabase } from '../support/region-database';

describe.each(['data-api', 'direct'] as const)('a database with %s access', (access) => {
  let region: RegionDatabase;
  beforeAll(async () => {
    region = await startRegionDatabase(access);
  });
  afterAll(() => region.stop());

  const run = (...statement: Parameters<typeof sql>) => region.owner.execute(sql(...statement));

  it('returns rows by column name, with nulls, numbers, booleans and text', async () => {
    expect(
      await run`select 1 as one, 2.5::double precision as half, true as yes, 'x' as text, null::text as nothing`,
    ).toEqual(ok([{ one: 1, half: 2.5, yes: true, text: 'x', nothing: null }]));
  });

  it('returns no rows for a statement without a result', async () => {
    expect(await run`select 1 as one where false`).toEqual(ok([]));
    expect(await run`create temporary table nothing ()`).toEqual(ok([]));
  });

  it.each([
    ['text that would end a statement', `'; drop table x; --`],
    ['text that looks like parameters', ':p1 $1 ?'],
    ['quotes, a backslash and an emoji', '\\ " \' \u{1F511}'],
    ['the empty text', ''],
    ['a long text', 'x'.repeat(10_000)],
  ])('binds %s only as a value', async (_, value) => {
    expect(await run`select ${value}::text as value`).toEqual(ok([{ value }]));
  });

  it('binds null, numbers and booleans', async () => {
    expect(
      await run`select ${null}::text is null as nothing, ${7}::int + 1 as sum, ${0.5}::float8 as half, not ${true}::boolean as no`,
    ).toEqual(ok([{ nothing: true, sum: 8, half: 0.5, no: false }]));
  });

  it('leaves casts, literals and comments that look like parameters unchanged', async () => {
    expect(
      await run`select ':a'::text as a, $tag$:b$tag$ as b /* :c */, ${'d'}::text as d -- :e
    `,
    ).toEqual(ok([{ a: ':a', b: ':b', d: 'd' }]));
  });

  it('throws with the SQL state when PostgreSQL refuses the statement', async () => {
    await expect(run`select * from missing`).rejects.toMatchObject({
      name: 'StatementRefused',
      sqlState: '42P01',
    });
    await expect(run`select 1 / ${0}::int`).rejects.toThrow(StatementRefused);
    expect(await run`select 1 as one`).toEqual(ok([{ one: 1 }]));
  });

  it('reports a timed-out statement as unavailable, not as an error', async () => {
    const slow = await region.owner.transaction(async (database) => {
      await database.execute(sql`set local statement_timeout = '50ms'`);
      return database.execute(sql`select pg_sleep(5)::text`);
    });
    expect(slow).toMatchObject({ ok: false, error: { kind: 'database_unavailable' } });
  });

  describe('a transaction', () => {
    beforeAll(() => run`create table counted (number int primary key)`);
    beforeEach(() => run`delete from counted`);
    const count = async () => {
      const result = await run`select count(*)::int as count from counted`;
      return result.ok ? result.value[0]?.count : result;
    };

    it('is committed when it succeeds', async () => {
      const outcome = await region.owner.transaction(async (database) => {
        await database.execute(sql`insert into counted values (1)`);
        await database.execute(sql`insert into counted values (2)`);
        return ok('done');
      });
      expect(outcome).toEqual(ok('done'));
      expect(await count()).toBe(2);
    });

    it('is rolled back when it fails', async () => {
      const outcome = await region.owner.transaction(async (database) => {
        await database.execute(sql`insert into counted values (1)`);
        return fail('changed my mind');
      });
      expect(outcome).toEqual(fail('changed my mind'));
      expect(await count()).toBe(0);
    });

    it('is rolled back when a statement is refused, and the next statement runs', async () => {
      const twice = region.owner.transaction(async (database) => {
        await database.execute(sql`insert into counted values (1)`);
        return database.execute(sql`insert into counted values (1)`);
      });
      await expect(twice).rejects.toMatchObject({ sqlState: '23505' });
      expect(await count()).toBe(0);
    });
  });

  it('runs a statement after a migration changed the type of its result column', async () => {
    await run`create table changing (id int, value int)`;
    await run`insert into changing values (1, 7)`;
    const read = () => run`select value from changing where id = ${1}::int`;
    expect(await read()).toEqual(ok([{ value: 7 }]));
    await run`alter table changing alter value type text`;
    expect(await read()).toEqual(ok([{ value: '7' }]));
  });

  it('reports a refused sign-in as unavailable: a password or a grant may be changing', async () => {
    await region.migrate();
    await run`alter role purge_expired nologin`;
    expect(await region.as('purge_expired').execute(sql`select 1 as one`)).toEqual(
      fail({ kind: 'database_unavailable', reason: expect.stringContaining('28') }),
    );
    await run`alter role purge_expired login`;
    expect(await region.as('purge_expired').execute(sql`select 1 as one`)).toEqual(ok([{ one: 1 }]));
  });

  it('reconnects after the server closed its connections', async () => {
    await region.owner.execute(
      sql`select pg_terminate_backend(pid, 5000)::text from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'`,
    );
    const ended = region.owner.execute(sql`select pg_terminate_backend(pg_backend_pid())::text as ended`);
    expect(await ended).toMatchObject({
      ok: false,
      error: { kind: 'database_unavailable', reason: expect.any(String) },
    });
    expect(await run`select 1 as one`).toEqual(ok([{ one: 1 }]));
  });
});
