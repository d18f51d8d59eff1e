import { RDSData } from '@aws-sdk/client-rds-data';
import { count, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/aws-data-api/pg';
import { boolean, integer, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { type ColumnType, type Generated, Kysely } from 'kysely';
import { DataApiDialect } from 'kysely-data-api';
import { localClient } from '../../support/aws-client';
import { type Fixture, resourceArn, secretArn, startFixture } from './support';

const database = 'postgres';
let fixture: Fixture;
let client: RDSData;
beforeAll(async () => {
  fixture = await startFixture();
  client = new RDSData(localClient(fixture.api.url));
  await fixture.execute(
    'create table team (id uuid primary key default gen_random_uuid(), name text unique)',
  );
  await fixture.execute(`create table player (
    name text primary key, team uuid not null references team, goals int not null default 0,
    active boolean not null default true, since timestamp, tags jsonb)`);
});
beforeEach(() => fixture.execute('truncate team, player'));
afterAll(() => {
  client.destroy();
  return fixture.stop();
});

const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
const since = '2026-11-20 12:00:00';
const ada = { name: 'Ada', goals: 3, active: true, tags: { wing: ['left'] } };
const goals = async () =>
  (await fixture.execute('select name, goals from player order by name')).records?.map(([name, count]) => [
    name?.stringValue,
    count?.longValue,
  ]);

describe('drizzle-orm', () => {
  const team = pgTable('team', { id: uuid().primaryKey().defaultRandom(), name: text().unique() });
  const player = pgTable('player', {
    name: text().primaryKey(),
    team: uuid()
      .notNull()
      .references(() => team.id),
    goals: integer().notNull().default(0),
    active: boolean().notNull().default(true),
    since: timestamp({ mode: 'string' }),
    tags: jsonb(),
  });
  const open = () => drizzle({ client, database, resourceArn, secretArn });

  it('inserts, joins, updates and deletes', async () => {
    const db = open();
    const [reds] = await db.insert(team).values({ name: 'Reds' }).returning();
    expect(reds).toEqual({ id, name: 'Reds' });
    await db.insert(player).values({ ...ada, team: String(reds?.id), since });
    await db
      .update(player)
      .set({ goals: sql`${player.goals} + 1` })
      .where(eq(player.name, 'Ada'));
    const joined = await db.select().from(player).innerJoin(team, eq(player.team, team.id));
    expect(joined).toEqual([
      { team: reds, player: { ...ada, goals: 4, team: reds?.id, since: expect.stringContaining(since) } },
    ]);
    await db.delete(player).where(eq(player.active, true));
    expect(await db.select({ rows: count() }).from(player)).toEqual([{ rows: 0 }]);
  });

  it('commits a transaction, and rolls one back that fails, with its savepoint', async () => {
    const db = open();
    await db.transaction(async (tx) => {
      const [blues] = await tx.insert(team).values({ name: 'Blues' }).returning();
      await tx.insert(player).values({ ...ada, team: String(blues?.id) });
      const inner = tx.transaction(async (nested) => {
        await nested.update(player).set({ goals: 99 });
        throw new Error('inner');
      });
      await expect(inner).rejects.toThrow('inner');
    });
    expect(await goals()).toEqual([['Ada', 3]]);
    const failing = db.transaction(async (tx) => {
      await tx.update(player).set({ goals: 50 });
      await tx.insert(team).values({ name: 'Blues' });
    });
    await expect(failing).rejects.toMatchObject({ cause: { name: 'DatabaseErrorException' } });
    expect(await goals()).toEqual([['Ada', 3]]);
  });
});

describe('kysely with kysely-data-api', () => {
  /** A string that is not text says so by its type hint, or PostgreSQL refuses it. */
  const hinted = (typeHint: 'UUID' | 'JSON', stringValue: string) => ({ typeHint, value: { stringValue } });
  interface Tables {
    team: { id: Generated<string>; name: string };
    player: {
      name: string;
      team: ColumnType<string, ReturnType<typeof hinted>>;
      goals: Generated<number>;
      active: Generated<boolean>;
      since: Date | null;
      tags: ColumnType<unknown, ReturnType<typeof hinted>>;
    };
  }
  const open = () => {
    const driver = { client, database, resourceArn, secretArn };
    return new Kysely<Tables>({ dialect: new DataApiDialect({ mode: 'postgres', driver }) });
  };
  type Queries = Pick<Kysely<Tables>, 'insertInto'>;
  const addTeam = (db: Queries, name: string) =>
    db.insertInto('team').values({ name }).returningAll().executeTakeFirstOrThrow();
  const addAda = (db: Queries, team: { id: string }) =>
    db
      .insertInto('player')
      .values({
        ...ada,
        tags: hinted('JSON', JSON.stringify(ada.tags)),
        team: hinted('UUID', team.id),
        since: new Date(`${since}Z`),
      })
      .execute();

  it('inserts, joins, updates and deletes', async () => {
    const db = open();
    const reds = await addTeam(db, 'Reds');
    expect(reds).toEqual({ id, name: 'Reds' });
    await addAda(db, reds);
    const scored = db.updateTable('player').set((player) => ({ goals: player('goals', '+', 1) }));
    expect(await scored.where('name', '=', 'Ada').executeTakeFirst()).toMatchObject({ numUpdatedRows: 1n });
    const joined = db.selectFrom('player').innerJoin('team', 'team.id', 'player.team').selectAll('player');
    expect(await joined.select('team.name as teamName').execute()).toEqual([
      { ...ada, goals: 4, team: reds.id, since: new Date(since), teamName: 'Reds' },
    ]);
    await db.deleteFrom('player').where('active', '=', true).execute();
    expect(await goals()).toEqual([]);
  });

  it('commits a transaction, and rolls one back that fails', async () => {
    const db = open();
    await db.transaction().execute(async (tx) => addAda(tx, await addTeam(tx, 'Blues')));
    expect(await goals()).toEqual([['Ada', 3]]);
    const failing = db.transaction().execute(async (tx) => {
      await tx.updateTable('player').set({ goals: 50 }).execute();
      await addTeam(tx, 'Blues');
    });
    await expect(failing).rejects.toMatchObject({ name: 'DatabaseErrorException' });
    expect(await goals()).toEqual([['Ada', 3]]);
  });
});
