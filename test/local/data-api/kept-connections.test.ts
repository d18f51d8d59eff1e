import type { Socket } from 'node:net';
import { Client } from 'pg';
import { Connections } from '../../../local/data-api/connections';
import { eventually } from '../../support/eventually';
import { type Fixture, refusalOf, secretOf, startFixture } from './support';

const threeMinutes = 180_000;
let now = 0;
let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture({ now: () => now, limits: { statementMs: 500 } });
  await fixture.execute(`create role keeper login password 'keeper'`);
  await fixture.execute('create sequence number');
  await fixture.execute(
    'create table entry (id int primary key, of int references entry deferrable initially deferred)',
  );
});
afterAll(() => fixture.stop());

/** The one value of a statement in a transaction, or how it was refused. */
const valueIn = (transactionId: string, expression: string) =>
  fixture.execute(`select ${expression}`, { transactionId }).then(
    ({ records }) => Object.values(records?.[0]?.[0] ?? {})[0],
    ({ message }) => message as string,
  );

const connectionOf = (transactionId: string) => valueIn(transactionId, 'pg_backend_pid()');

/** A transaction on this connection, as soon as it is free again. */
async function nextOn(connection: unknown): Promise<string> {
  const others: string[] = [];
  try {
    for (;;) {
      const id = await fixture.begin();
      if ((await connectionOf(id)) === connection) return id;
      others.push(id);
      if (others.length === 20) throw new Error('The connection serves no other transaction.');
    }
  } finally {
    await Promise.all(others.map((id) => fixture.rollback(id)));
  }
}

const connectionsOf = async (role: string) =>
  (await fixture.execute(`select count(*) from pg_stat_activity where usename = '${role}'`)).records?.[0]?.[0]
    ?.longValue;

describe('a transaction leaves nothing of its session to the next one on its connection', () => {
  it.each<[string, string, string, unknown]>([
    ['a setting', `set application_name = 'left'`, `current_setting('application_name')`, 'rds-data-api'],
    ['a temporary table', 'create temporary table left_behind ()', `to_regclass('left_behind')::text`, true],
    [
      'an advisory lock',
      'select pg_advisory_lock(1)::text',
      `count(*) from pg_locks where locktype = 'advisory'`,
      0,
    ],
    ['a prepared statement', 'prepare left_behind as select 1', 'count(*) from pg_prepared_statements', 0],
    ['a role', 'set role keeper', `current_user = 'keeper'`, false],
    ['an authorization', 'set session authorization keeper', `session_user = 'keeper'`, false],
    ['a subscription', 'listen left_behind', 'count(*) from pg_listening_channels()', 0],
    [
      'a cursor',
      'declare left_behind cursor with hold for select 1',
      'count(*) from pg_cursors where is_holdable',
      0,
    ],
    [
      'a number of a sequence',
      `select nextval('number')`,
      'lastval()',
      expect.stringContaining('SQLState: 55000'),
    ],
  ])('%s', async (_, leave, probe, clean) => {
    const first = await fixture.begin();
    const connection = await connectionOf(first);
    await fixture.execute(leave, { transactionId: first });
    // LISTEN has an effect when its transaction commits.
    if (!leave.startsWith('listen')) expect(await valueIn(first, probe)).not.toEqual(clean);
    await fixture.commit(first);
    const next = await nextOn(connection);
    expect(await valueIn(next, probe)).toEqual(clean);
    await fixture.rollback(next);
  });
});

it.each<[string, (id: string) => Promise<unknown>]>([
  ['committed', (id) => fixture.commit(id)],
  ['rolled back', (id) => fixture.rollback(id)],
  [
    'ended by a statement, and committed,',
    async (id) => {
      await fixture.execute('rollback', { transactionId: id });
      await fixture.commit(id);
    },
  ],
  [
    'refused at its commit',
    async (id) => {
      await fixture.execute('insert into entry values (1, 7)', { transactionId: id });
      await expect(fixture.commit(id)).rejects.toMatchObject({ name: 'DatabaseErrorException' });
    },
  ],
  [
    'rolled back after a timeout',
    async (id) => {
      const slow = fixture.execute('select pg_sleep(5)::text', { transactionId: id });
      await expect(slow).rejects.toMatchObject({ name: 'StatementTimeoutException' });
      await fixture.rollback(id);
    },
  ],
  [
    'left open, and expired,',
    async (id) => {
      await fixture.execute('insert into entry values (1)', { transactionId: id });
      now += threeMinutes;
    },
  ],
])('the connection of a transaction that was %s serves another one', async (_, end) => {
  const first = await fixture.begin();
  const connection = await connectionOf(first);
  await fixture.execute(`set application_name = 'left'`, { transactionId: first });
  await end(first);
  const next = await nextOn(connection);
  expect(await valueIn(next, `current_setting('application_name')`)).toBe('rds-data-api');
  expect(await valueIn(next, 'count(*) from entry')).toBe(0);
  await fixture.rollback(next);
});

it('five connections at most are kept for the transactions of a role', async () => {
  const keeper = { secretArn: secretOf('keeper') };
  const ids = await Promise.all(Array.from({ length: 12 }, () => fixture.begin(keeper)));
  expect(await connectionsOf('keeper')).toBe(12);
  await Promise.all(ids.map((id) => fixture.rollback(id, keeper)));
  await eventually(async () => expect(await connectionsOf('keeper')).toBe(5));
});

it('a wrong password gets no kept connection, and a new one does not need the old one', async () => {
  const keeper = { secretArn: secretOf('keeper') };
  const wrong = { secretArn: secretOf('wrong-keeper') };
  await fixture.rollback(await fixture.begin(keeper), keeper);
  expect(await refusalOf(fixture.begin(wrong))).toMatch(/^400 DatabaseErrorException: .*SQLState: 28P01$/);
  await fixture.execute(`alter role keeper password 'wrong-keeper'`);
  await fixture.rollback(await fixture.begin(wrong), wrong);
});

it('a database that was dropped and created again is the new one', async () => {
  const { host, port, superuser: user, password, database } = fixture.postgres;
  // Not through the Data API: creating a database may take longer than its statements may here.
  const administrator = new Client({ host, port, user, password, database });
  await administrator.connect();
  await administrator.query('create database other');
  const other = { database: 'other' };
  const first = await fixture.begin(other);
  await fixture.execute('create table old ()', { transactionId: first });
  await fixture.commit(first);
  await administrator.query('drop database other with (force)');
  await administrator.query('create database other');
  const next = await fixture.begin(other);
  expect(await valueIn(next, `to_regclass('old')::text`)).toBe(true);
  await fixture.rollback(next);
  await administrator.end();
});

it('transactions begin again as soon as PostgreSQL has restarted', async () => {
  const ids = await Promise.all([fixture.begin(), fixture.begin(), fixture.begin()]);
  await Promise.all(ids.map((id) => fixture.rollback(id)));
  await fixture.postgres.kill();
  await fixture.postgres.restart();
  await fixture.rollback(await fixture.begin());
});

describe('kept connections', () => {
  const target = () => {
    const { host, port, superuser, password } = fixture.postgres;
    return { host, port, user: superuser, password, database: 'template1' };
  };
  const count = async () =>
    (await fixture.execute(`select count(*) from pg_stat_activity where datname = 'template1'`))
      .records?.[0]?.[0]?.longValue;

  it('are closed when nobody uses them', async () => {
    const connections = new Connections(500);
    const { giveBack } = await connections.begin(target(), () => {});
    await giveBack();
    expect(await count()).toBe(1);
    await eventually(async () => expect(await count()).toBe(0));
    await connections.close();
  });

  it('that broke unnoticed fail no transaction', async () => {
    const connections = new Connections();
    const kept = await Promise.all([1, 2].map(() => connections.begin(target(), () => {})));
    await Promise.all(kept.map(({ giveBack }) => giveBack()));
    for (const { client } of kept) {
      (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
    }
    const { client, giveBack } = await connections.begin(target(), () => {});
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await giveBack();
    await connections.close();
    await eventually(async () => expect(await count()).toBe(0));
  });
});
