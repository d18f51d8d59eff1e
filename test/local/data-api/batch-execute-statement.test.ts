import { type Fixture, startFixture } from './support';

let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture();
  await fixture.execute('create table entry (id int primary key)');
});
beforeEach(() => fixture.execute('truncate entry'));
afterAll(() => fixture.stop());

const sets = (...ids: number[]) => ids.map((id) => [{ name: 'id', value: { longValue: id } }]);
const ids = async () =>
  (await fixture.execute('select id from entry order by id')).records?.map(([id]) => id?.longValue);

it('does the statement once for each parameter set, with empty generated fields', async () => {
  const { updateResults } = await fixture.batch('insert into entry values (:id)', {
    parameterSets: sets(1, 2, 3),
  });
  expect(updateResults).toEqual([{ generatedFields: [] }, { generatedFields: [] }, { generatedFields: [] }]);
  expect(await ids()).toEqual([1, 2, 3]);
});

it('does a statement without parameters once for each empty set, and not at all without a set', async () => {
  const sql = 'insert into entry select count(*) from entry';
  expect((await fixture.batch(sql, { parameterSets: [[], []] })).updateResults).toHaveLength(2);
  expect((await fixture.batch(sql)).updateResults).toEqual([]);
  expect(await ids()).toEqual([0, 1]);
});

it('outside a transaction keeps what came before the failing set', async () => {
  await expect(
    fixture.batch('insert into entry values (:id)', { parameterSets: sets(1, 1, 2) }),
  ).rejects.toMatchObject({ message: expect.stringContaining('SQLState: 23505') });
  expect(await ids()).toEqual([1]);
});

it('in a transaction is undone with it', async () => {
  const transactionId = await fixture.begin();
  await fixture.batch('insert into entry values (:id)', { parameterSets: sets(1, 2), transactionId });
  await fixture.rollback(transactionId);
  expect(await ids()).toEqual([]);
});

it('refuses a set that lacks a parameter before it does anything', async () => {
  await expect(
    fixture.batch('insert into entry values (:id)', { parameterSets: [...sets(1), []] }),
  ).rejects.toMatchObject({ message: expect.stringContaining('SQLState: 08P01') });
  expect(await ids()).toEqual([]);
});
