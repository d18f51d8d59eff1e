import { randomBytes } from 'node:crypto';
import { eventually } from '../../support/eventually';
import { type Fixture, resourceArn, secretOf, startFixture, untilAsleep } from './support';

const minute = 60_000;
let now = 0;
let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture({ now: () => now, limits: { statementMs: 500 } });
  await fixture.execute('create table entry (id int primary key)');
  await fixture.execute('create table deferred (id int references entry deferrable initially deferred)');
  await fixture.execute(`create function wait() returns trigger language plpgsql as $$
    begin perform pg_sleep(0.8); return null; end $$`);
  await fixture.execute('create table slow (id int)');
  await fixture.execute(`create constraint trigger wait after insert on slow
    deferrable initially deferred for each row execute function wait()`);
});
beforeEach(() => fixture.execute('truncate entry cascade'));
afterAll(() => fixture.stop());

const insert = (id: number, transactionId?: string) =>
  fixture.execute('insert into entry values (:id)', {
    parameters: [{ name: 'id', value: { longValue: id } }],
    transactionId,
  });
const count = async (transactionId?: string) =>
  (await fixture.execute('select count(*) from entry', { transactionId })).records?.[0]?.[0]?.longValue;

const notFound = (reason: string) => ({
  name: 'TransactionNotFoundException',
  message: expect.stringContaining(`isn't found. ${reason}`),
  $metadata: expect.objectContaining({ httpStatusCode: 404 }),
});
const expired = notFound('Transaction may be expired.');
const ended = notFound('One previous call resulted in a termination of your transaction.');
const aborted = notFound('Transaction has been aborted due to an error from a previous call.');

it.each([
  ['commit', 'Transaction Committed', 1],
  ['rollback', 'Rollback Complete', 0],
] as const)(
  'after its %s a transaction is not found, and others see its outcome',
  async (end, status, kept) => {
    const id = await fixture.begin();
    await insert(1, id);
    expect([await count(id), await count()]).toEqual([1, 0]);
    expect(await fixture[end](id)).toBe(status);
    expect(await count()).toBe(kept);
    await expect(insert(2, id)).rejects.toMatchObject(ended);
    await expect(fixture.commit(id)).rejects.toMatchObject(ended);
    await expect(fixture.rollback(id)).rejects.toMatchObject(ended);
  },
);

it('a transaction that was never begun is not found', async () => {
  await expect(fixture.commit(randomBytes(48).toString('base64'))).rejects.toMatchObject(expired);
});

it('a transaction expires three minutes after its last call, and is rolled back', async () => {
  const id = await fixture.begin();
  now += 3 * minute - 1;
  await insert(1, id);
  now += 3 * minute - 1;
  expect(await count(id)).toBe(1);
  now += 3 * minute;
  await expect(fixture.commit(id)).rejects.toMatchObject(expired);
  await insert(1);
  expect(await count()).toBe(1);
});

it('an expired transaction releases its locks without another call', async () => {
  const id = await fixture.begin();
  await fixture.execute('lock table entry in access exclusive mode', { transactionId: id });
  await expect(count()).rejects.toMatchObject({ name: 'StatementTimeoutException' });
  now += 3 * minute;
  await eventually(count);
});

it('a transaction lives 24 hours at most', async () => {
  const id = await fixture.begin();
  const step = 3 * minute - 1;
  for (let age = step; age < 24 * 60 * minute; age += step) {
    now += step;
    await count(id);
  }
  now += step;
  await expect(count(id)).rejects.toMatchObject(expired);
});

it('a statement that fails leaves the transaction to be rolled back', async () => {
  const id = await fixture.begin();
  await insert(1, id);
  await expect(insert(1, id)).rejects.toMatchObject({
    name: 'DatabaseErrorException',
    message: 'ERROR: duplicate key value violates unique constraint "entry_pkey"; SQLState: 23505',
  });
  await expect(insert(2, id)).rejects.toMatchObject({ message: expect.stringContaining('SQLState: 25P02') });
  await expect(fixture.commit(id)).rejects.toMatchObject(aborted);
  expect(await count()).toBe(0);
});

it.each([
  ['', (id: string) => fixture.commit(id), aborted],
  [', sent as a statement,', (id: string) => fixture.execute('commit', { transactionId: id }), ended],
])('a commit%s that PostgreSQL refuses is an error and ends the transaction', async (_, commit, over) => {
  const id = await fixture.begin();
  await fixture.execute('insert into deferred values (7)', { transactionId: id });
  await expect(commit(id)).rejects.toMatchObject({
    name: 'DatabaseErrorException',
    message: expect.stringContaining('SQLState: 23503'),
  });
  await expect(insert(1, id)).rejects.toMatchObject(over);
  expect(await count()).toBe(0);
});

describe.each([
  ['commit', 1],
  ['end', 1],
  ['rollback', 0],
] as const)('after the statement %s', (statement, kept) => {
  const ended = async () => {
    const id = await fixture.begin();
    await insert(1, id);
    await fixture.execute(statement, { transactionId: id });
    expect(await count()).toBe(kept);
    return id;
  };

  it.each([
    ['commit', 'Transaction Committed'],
    ['rollback', 'Rollback Complete'],
  ] as const)('%s is answered, and ends the transaction', async (end, status) => {
    const id = await ended();
    expect(await fixture[end](id)).toBe(status);
    expect(await count()).toBe(kept);
    await expect(fixture[end](id)).rejects.toMatchObject(notFound('One previous call'));
  });

  it('PostgreSQL commits what comes with its id, until it expires or a statement fails', async () => {
    const [failing, idle] = [await ended(), await fixture.begin()];
    await insert(2, failing);
    expect(await count()).toBe(kept + 1);
    await expect(insert(2, failing)).rejects.toMatchObject({ name: 'DatabaseErrorException' });
    await expect(fixture.commit(failing)).rejects.toMatchObject(notFound('One previous call'));
    await fixture.execute(statement, { transactionId: idle });
    now += 3 * minute;
    await expect(fixture.commit(idle)).rejects.toMatchObject(expired);
  });
});

it('a second call of a transaction is refused while one runs', async () => {
  const id = await fixture.begin();
  const first = fixture.execute('select pg_sleep(0.4)::text', { transactionId: id });
  await untilAsleep(fixture);
  const busy = { name: 'DatabaseErrorException', message: 'Transaction is still running a query' };
  await expect(count(id)).rejects.toMatchObject(busy);
  await expect(fixture.commit(id)).rejects.toMatchObject(busy);
  await first;
  expect(await count(id)).toBe(0);
  await fixture.rollback(id);
});

it.each([
  ['cluster', { resourceArn: `${resourceArn}-other` }, expired],
  ['secret', { secretArn: secretOf('x') }, expired],
  ['database', { database: 'template1' }, { name: 'BadRequestException' }],
])('a transaction belongs to its %s', async (_, other, refusal) => {
  const transactionId = await fixture.begin();
  await expect(fixture.execute('select 1', { transactionId, ...other })).rejects.toMatchObject(refusal);
  await fixture.rollback(transactionId);
});

it('a transaction in which COPY has nothing to read has failed', async () => {
  const id = await fixture.begin();
  await expect(fixture.execute('copy entry from stdin', { transactionId: id })).rejects.toMatchObject({
    message: expect.stringContaining('SQLState: 57014'),
  });
  await expect(fixture.commit(id)).rejects.toMatchObject(aborted);
});

it('a transaction whose connection is lost is rolled back and not found', async () => {
  const id = await fixture.begin();
  await insert(1, id);
  await fixture.execute(
    `select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'`,
  );
  await eventually(() => expect(fixture.commit(id)).rejects.toMatchObject(aborted));
  expect(await count()).toBe(0);
});

it('open transactions block neither each other nor single calls', async () => {
  const ids = await Promise.all(Array.from({ length: 40 }, () => fixture.begin()));
  await Promise.all(ids.map((id, index) => insert(index, id)));
  expect(await Promise.all(Array.from({ length: 40 }, () => count()))).toEqual(Array(40).fill(0));
  await Promise.all(ids.map((id, index) => (index % 2 ? fixture.commit(id) : fixture.rollback(id))));
  expect(await count()).toBe(20);
});

describe('past the time limit', () => {
  const slow = (seconds: number) => `insert into entry select 9 from pg_sleep(${seconds})`;

  it('a statement is cancelled', async () => {
    const started = performance.now();
    await expect(fixture.execute(slow(5))).rejects.toMatchObject({
      name: 'StatementTimeoutException',
      dbConnectionId: expect.any(Number),
      $metadata: { httpStatusCode: 400 },
    });
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(await count()).toBe(0);
  });

  it('a statement continues with continueAfterTimeout', async () => {
    await expect(fixture.execute(slow(0.9), { continueAfterTimeout: true })).rejects.toMatchObject({
      name: 'StatementTimeoutException',
    });
    expect(await count()).toBe(0);
    await eventually(async () => expect(await count()).toBe(1));
  });

  it('a transaction stays busy while its statement continues', async () => {
    const id = await fixture.begin();
    await expect(
      fixture.execute(slow(0.9), { continueAfterTimeout: true, transactionId: id }),
    ).rejects.toMatchObject({ name: 'StatementTimeoutException' });
    await expect(fixture.commit(id)).rejects.toMatchObject({
      message: 'Transaction is still running a query',
    });
    await eventually(() => fixture.commit(id));
    expect(await count()).toBe(1);
  });

  it.each([
    [false, 0],
    [true, 1],
  ])(
    'a commit, sent as a statement, ends its transaction (continueAfterTimeout %s)',
    async (continueAfterTimeout, kept) => {
      const id = await fixture.begin();
      await fixture.execute('insert into slow values (1)', { transactionId: id });
      await expect(
        fixture.execute('commit', { transactionId: id, continueAfterTimeout }),
      ).rejects.toMatchObject({ name: 'StatementTimeoutException' });
      await eventually(() => expect(insert(1, id)).rejects.toMatchObject(ended));
      expect(await count()).toBe(0);
      expect((await fixture.execute('select * from slow')).records).toHaveLength(kept);
      await fixture.execute('delete from slow');
    },
  );

  it('a batch stops, even when its statement ignores the cancellation', async () => {
    await fixture.execute(`create function stubborn(id int) returns int language plpgsql as $$
      begin
        perform pg_sleep(5);
        return id;
      exception when query_canceled then
        return id;
      end $$`);
    const parameterSets = [1, 2, 3].map((id) => [{ name: 'id', value: { longValue: id } }]);
    await expect(
      fixture.batch('insert into entry values (stubborn(:id::int))', { parameterSets }),
    ).rejects.toMatchObject({ name: 'StatementTimeoutException' });
    expect(await count()).toBe(1);
  });
});
