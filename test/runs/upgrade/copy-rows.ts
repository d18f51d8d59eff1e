import type { Client } from 'pg';

/** The tables that hold data: the history of migrations is each database's own. */
async function tablesOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query(
    `select quote_ident(tablename) as name from pg_tables
    where schemaname = 'public' and tablename <> 'schema_migrations' order by 1`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Replaces the rows of a database by those of another with the same schema. Both clients are superusers'.
 *
 * @throws Error of PostgreSQL when a table or column is missing or refuses a row; nothing is changed then
 */
export async function copyRows(from: Client, to: Client): Promise<void> {
  const tables = await tablesOf(from);
  await to.query('begin');
  try {
    // Rows come whole, in whatever order: no trigger and no check of a foreign key runs.
    await to.query('set local session_replication_role = replica');
    await to.query(`truncate ${(await tablesOf(to)).join(', ')}`);
    for (const table of tables) {
      const { rows } = await from.query(`select coalesce(json_agg(t), '[]')::text as rows from ${table} t`);
      await to.query(
        `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, $1)`,
        [rows[0].rows],
      );
    }
    for (const { sequence, last } of await lastValues(from))
      await to.query('select setval($1, $2)', [sequence, last]);
    await to.query('commit');
  } catch (error) {
    await to.query('rollback');
    throw error;
  }
}

/** Of the sequences that were used: the numbers that rows to come would get twice. */
async function lastValues(client: Client): Promise<readonly { sequence: string; last: string }[]> {
  const { rows } = await client.query(
    `select format('%I.%I', schemaname, sequencename) as sequence, last_value as last
    from pg_sequences where schemaname = 'public' and last_value is not null`,
  );
  return rows;
}

/** A digest of each table's rows, and of the migrations that made it. */
export async function digests(client: Client): Promise<Readonly<Record<string, string>>> {
  await client.query(`set timezone = 'UTC'`);
  const digest = async (rows: string) => {
    const { rows: counted } = await client.query(
      `select count(*) || ' ' || md5(coalesce(string_agg(t::text, E'\\n' order by t::text collate "C"), '')) as digest
      from ${rows} t`,
    );
    return counted[0].digest as string;
  };
  const found: Record<string, string> = {};
  for (const table of await tablesOf(client)) found[table] = await digest(table);
  return { ...found, schema_migrations: await digest('(select name, checksum from schema_migrations)') };
}
