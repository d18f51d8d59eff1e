import pg from 'pg';
import type { BoundStatement } from './bindings';
import { type ColumnMetadata, describeColumns } from './column-metadata';
import { columnTypes, oid } from './column-types';
import { DataApiError, fromPostgres } from './errors';
import { type Field, type ResultSetOptions, toBytes, toField } from './fields';
import type { Limits } from './limits';

export interface ResultSet {
  readonly labels: readonly string[];
  readonly records: readonly Field[][];
  readonly columns: readonly ColumnMetadata[] | undefined;
}

export interface StatementResult {
  /** PostgreSQL's word for what was done: `SELECT`, `INSERT`, … */
  readonly command: string;
  readonly updated: number;
  /** Absent when the statement returns no rows at all. */
  readonly resultSet: ResultSet | undefined;
}

export interface ResultOptions {
  readonly resultSetOptions: ResultSetOptions;
  readonly includeResultMetadata: boolean;
  readonly limits: Limits;
}

/** @throws DataApiError what the caller is to see when PostgreSQL refuses or the result cannot be returned. */
export async function runStatement(
  client: pg.ClientBase,
  statement: BoundStatement,
  options: ResultOptions,
): Promise<StatementResult> {
  try {
    const result = await submit(client, queryFor(statement, options.limits));
    const { command, rowCount, fields } = result;
    if (command === 'COPY') {
      throw new DataApiError(
        'UnsupportedResultException',
        'The Data API has no way to return what COPY sends.',
      );
    }
    const changed = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command);
    return {
      command,
      updated: changed ? (rowCount ?? 0) : 0,
      resultSet: fields.length === 0 ? undefined : await toResultSet(client, result, options),
    };
  } catch (error) {
    throw fromPostgres(error);
  }
}

type RawQuery = pg.QueryArrayConfig & { readonly queryMode: 'extended' };
type RawResult = pg.QueryArrayResult<(string | null)[]>;

/** Fails COPY … FROM STDIN, for which there is no data. */
class Query extends pg.Query {
  /** Called by `pg`. */
  handleCopyInResponse(connection: { sendCopyFail(reason: string): void; sync(): void }): void {
    connection.sendCopyFail('the Data API has no way to send the data');
    // Waiting for the data, PostgreSQL ignored the Sync of the statement, and after the failure it awaits another.
    // https://www.postgresql.org/docs/17/protocol-flow.html#PROTOCOL-COPY
    connection.sync();
  }
}

function submit(client: pg.ClientBase, config: RawQuery): Promise<RawResult> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | undefined, result: unknown) => {
      if (!error) return resolve(result as RawResult);
      // PostgreSQL sends an error before it rolls back. What is asked next is answered when it has, and then
      // `client.getTransactionStatus()` is right.
      client.query('', () => reject(error));
    };
    client.query(new Query(config, done));
  });
}

/** The extended protocol refuses a second statement; values come back as PostgreSQL's text. */
function queryFor({ text, values, types }: BoundStatement, limits: Limits): RawQuery {
  let bytes = 0;
  const counting = (type: number) => (value: string) => {
    bytes += sizeOf(value, type);
    if (bytes > limits.resultBytes) throw tooLarge();
    return value;
  };
  return {
    text,
    values: [...values],
    rowMode: 'array',
    queryMode: 'extended',
    // `pg` gives this one object to PostgreSQL as the parameters' types and asks it for the parsers of the results.
    types: Object.assign([...types], { getTypeParser: counting }),
  };
}

async function toResultSet(
  client: pg.ClientBase,
  { fields, rows }: RawResult,
  options: ResultOptions,
): Promise<ResultSet> {
  const types = await columnTypes(client, fields);
  checkSize(rows, fields, options.limits);
  const records = rows.map((row) =>
    types.map((type, index) => toField(row[index] ?? null, type, options.resultSetOptions)),
  );
  const columns = options.includeResultMetadata ? await describeColumns(client, fields, types) : undefined;
  return { labels: fields.map((field) => field.name), records, columns };
}

/** Bytes before a row and before each of its values. https://www.postgresql.org/docs/17/protocol-message-formats.html (DataRow) */
const rowHeader = 2;
const valueHeader = 4;

/** Bytes of a value; of a BYTEA those that it stands for, not those of its hexadecimal text. */
const sizeOf = (text: string, type: number | undefined) =>
  type === oid.bytea ? toBytes(text).length : Buffer.byteLength(text);

function checkSize(rows: readonly (string | null)[][], fields: readonly pg.FieldDef[], limits: Limits): void {
  let total = 0;
  for (const row of rows) {
    const sizes = row.map((value, index) => valueHeader + sizeOf(value ?? '', fields[index]?.dataTypeID));
    const size = sizes.reduce((sum, each) => sum + each, rowHeader);
    if (size > limits.rowBytes) {
      throw new DataApiError('UnsupportedResultException', 'Packet for query is too large');
    }
    total += size;
  }
  if (total > limits.resultBytes) throw tooLarge();
}

function tooLarge(): DataApiError {
  return new DataApiError('UnsupportedResultException', 'The result exceeds the size limit 1 MB.');
}
