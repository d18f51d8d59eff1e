import tls from 'node:tls';
import { fail, ok, type Result } from '../../domain/result';
import { query, sql } from '../../lambda/database/database';
import { createDirectDatabase } from '../../lambda/database/direct';
import { createAuthority } from '../support/certificates';
import { startPostgres } from '../support/postgres';
import { startRegionDatabase } from '../support/region-database';
import { useShared } from '../support/use-shared';

describe.each(['data-api', 'direct'] as const)('a database with %s access', (access) => {
  const region = useShared(() => startRegionDatabase(access));

  const run = (...statement: Parameters<typeof sql>) => region.owner.execute(sql(...statement));
  const unavailable = fail({ kind: 'database_unavailable', reason: expect.any(String) });

  it('binds and returns nulls, numbers, booleans and text, only as values, by column name', async () => {
    expect(
      await run`select ${1}::int as one, ${2.5}::double precision as half, ${true}::boolean as yes, ${null}::text as nothing`,
    ).toEqual(ok([{ one: 1, half: 2.5, yes: true, nothing: null }]));
    for (const value of [`'; drop table x; --`, ':p1 $1 ?', '\\ " \' \u{1F511}', ''])
      expect(await run`select ${value}::text as value`).toEqual(ok([{ value }]));
    expect(await run`select 1 as one where false`).toEqual(ok([]));
    expect(await run`create temporary table nothing ()`).toEqual(ok([]));
  });

  it('reads rows by their declared columns, and throws for any that differ', async () => {
    const read = (columns: Parameters<typeof query>[1]) =>
      query(region.owner, columns, sql`select 1 as one, null::text as nothing`);
    expect(await read({ one: 'number', nothing: 'text?' })).toEqual(ok([{ one: 1, nothing: null }]));
    for (const columns of [
      { one: 'number' },
      { one: 'number', nothing: 'text' },
      { one: 'text', nothing: 'text?' },
      { one: 'number', nothing: 'text?', other: 'text?' },
    ] as const)
      await expect(read(columns)).rejects.toThrow(/^The column "\w+" is/);
  });

  it('throws with the SQL state when PostgreSQL refuses a statement, and reports what is temporary as unavailable', async () => {
    const raising = (state: string) => `do $$ begin raise 'no' using errcode = '${state}'; end $$`;
    const raise = (state: string) => region.owner.execute({ text: [raising(state)], values: [] });
    for (const state of ['42P01', '22012', '25P02', '53100', '57000', 'WH050'])
      await expect(raise(state)).rejects.toMatchObject({ name: 'StatementRefused', sqlState: state });
    for (const state of ['08006', '28000', '57P01', '53300', '57014', '55P03', '40P01', '25006'])
      expect([state, await raise(state)]).toEqual([state, unavailable]);
    expect(await run`select 1 as one`).toEqual(ok([{ one: 1 }]));
  });

  it('commits a transaction that succeeds, and rolls back one that fails or is refused', async () => {
    await run`create table counted (number int primary key)`;
    const inserting = (numbers: readonly number[], outcome: Result<string, string>) =>
      region.owner.transaction(async ({ execute }) => {
        for (const number of numbers) await execute(sql`insert into counted values (${number}::int)`);
        return outcome;
      });
    expect(await inserting([1, 2], ok('done'))).toEqual(ok('done'));
    expect(await inserting([3], fail('changed my mind'))).toEqual(fail('changed my mind'));
    await expect(inserting([4, 4], ok('done'))).rejects.toMatchObject({ sqlState: '23505' });
    expect(await run`select number from counted order by 1`).toEqual(ok([{ number: 1 }, { number: 2 }]));
  });

  it('runs a statement after a migration changed the type of its result column, at the latest when repeated', async () => {
    await run`create table changing (id int, value int)`;
    await run`insert into changing values (1, 7)`;
    const read = () => run`select value from changing where id = ${1}::int`;
    expect(await read()).toEqual(ok([{ value: 7 }]));
    await run`alter table changing alter value type text`;
    const lost = fail({ kind: 'database_unavailable', reason: 'connection_lost' });
    expect(await read()).toEqual(access === 'direct' ? lost : ok([{ value: '7' }]));
    expect(await read()).toEqual(ok([{ value: '7' }]));
  });

  it('reports a refused sign-in as unavailable: a grant may be changing, or there are too many connections', async () => {
    await region.migrate();
    const signIn = () => region.as('purge_expired').execute(sql`select 1 as one`);
    await run`alter role purge_expired nologin`;
    expect(await signIn()).toEqual(unavailable);
    await run`alter role purge_expired login connection limit 0`;
    expect(await signIn()).toEqual(unavailable);
    await run`alter role purge_expired connection limit -1`;
    expect(await signIn()).toEqual(ok([{ one: 1 }]));
  });

  it('reconnects after the server closed its connections, and repeats no statement', async () => {
    await run`select pg_terminate_backend(pid, 5000)::text from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'`;
    await run`create sequence calls`;
    const reason = access === 'direct' ? 'connection_lost' : 'http_504';
    expect(
      await run`select nextval('calls')::text as call, pg_terminate_backend(pg_backend_pid())::text as ended`,
    ).toEqual(fail({ kind: 'database_unavailable', reason }));
    expect(await run`select last_value::int as calls from calls`).toEqual(ok([{ calls: 1 }]));
    const committing = region.owner.transaction(async ({ execute }) => {
      await execute(sql`select pg_terminate_backend(pg_backend_pid())::text`);
      return ok('done');
    });
    expect(await committing).toEqual(unavailable);
  });
});

it('direct access trusts only the configured root certificates, from TLS 1.2, whatever PGSSLMODE says; the server ends statements first', async () => {
  const postgres = await startPostgres();
  const authorities = [postgres.certificateAuthorities, (await createAuthority()).cert] as const;
  const connectWith = (certificateAuthorities: string, callTimeout?: number) =>
    createDirectDatabase({
      host: 'localhost',
      port: postgres.port,
      database: 'postgres',
      user: postgres.superuser,
      password: () => postgres.password,
      certificateAuthorities,
      ...(callTimeout && { callTimeout }),
    });
  const connect = jest.spyOn(tls, 'connect');
  const limit = sql`select current_setting('statement_timeout') as limit`;
  try {
    for (const mode of ['', 'disable', 'no-verify']) {
      process.env.PGSSLMODE = mode;
      const [trusting, distrusting] = authorities.map((each) => connectWith(each));
      // Less than the eight seconds of the client.
      expect(await trusting?.execute(limit)).toEqual(ok([{ limit: '7s' }]));
      expect(connect).toHaveBeenLastCalledWith(expect.objectContaining({ minVersion: 'TLSv1.2' }));
      await expect(distrusting?.execute(limit)).rejects.toThrow(/certificate/);
      await Promise.all([trusting?.close(), distrusting?.close()]);
    }
    // Without a limit of the server.
    const impatient = connectWith(authorities[0], 1_000);
    const timedOut = fail({ kind: 'database_unavailable', reason: 'timeout' });
    expect(await impatient.execute(sql`select pg_sleep(5)::text`)).toEqual(timedOut);
    expect(await impatient.execute(sql`select 1 as one`)).toEqual(ok([{ one: 1 }]));
    await impatient.close();
  } finally {
    await postgres.stop();
  }
});
