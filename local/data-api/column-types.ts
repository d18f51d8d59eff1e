import type pg from 'pg';
import { DataApiError } from './errors';

/** OIDs of the types of parameters; 0 leaves the type to PostgreSQL. Source: pg_type.dat, as below. */
export const oid = {
  unknown: 0,
  bool: 16,
  bytea: 17,
  int8: 20,
  text: 25,
  json: 114,
  float8: 701,
  date: 1082,
  time: 1083,
  timestamp: 1114,
  numeric: 1700,
  uuid: 2950,
} as const;

/** The form of a type's values in a response. */
export type ValueKind = 'boolean' | 'long' | 'double' | 'decimal' | 'bytes' | 'text' | 'time' | 'timestamptz';

export interface ColumnType {
  readonly name: string;
  readonly kind: ValueKind;
  /** The type code of Java's `java.sql.Types`, which `ColumnMetadata` uses. */
  readonly jdbcType: number;
  /** The type of the elements, when this is an array. */
  readonly element?: ColumnType;
}

/** https://docs.oracle.com/en/java/javase/21/docs/api/constant-values.html (java.sql.Types) */
const jdbc = { other: 1111, array: 2003, varchar: 12 } as const;

/**
 * OID, OID of the array type, name, kind, JDBC type of what the Data API returns
 * (https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api-operations.html). 0: arrays of it are not
 * among the documented ones. OIDs are of
 * https://github.com/postgres/postgres/blob/REL_17_STABLE/src/include/catalog/pg_type.dat
 */
const rows: readonly (readonly [number, number, string, ValueKind, number])[] = [
  [16, 1000, 'bool', 'boolean', -7],
  [17, 0, 'bytea', 'bytes', -2],
  [19, 1003, 'name', 'text', jdbc.varchar],
  [20, 1016, 'int8', 'long', -5],
  [21, 1005, 'int2', 'long', 5],
  [23, 1007, 'int4', 'long', 4],
  [25, 1009, 'text', 'text', jdbc.varchar],
  [26, 1028, 'oid', 'long', -5],
  [114, 199, 'json', 'text', jdbc.other],
  [650, 0, 'cidr', 'text', jdbc.other],
  [700, 1021, 'float4', 'double', 7],
  [701, 1022, 'float8', 'double', 8],
  [869, 0, 'inet', 'text', jdbc.other],
  [1042, 1014, 'bpchar', 'text', 1],
  [1043, 1015, 'varchar', 'text', jdbc.varchar],
  [1082, 1182, 'date', 'time', 91],
  [1083, 1183, 'time', 'time', 92],
  [1114, 1115, 'timestamp', 'time', 93],
  [1184, 1185, 'timestamptz', 'timestamptz', 93],
  [1700, 1231, 'numeric', 'decimal', 2],
  [2950, 2951, 'uuid', 'text', jdbc.other],
  [3802, 3807, 'jsonb', 'text', jdbc.other],
];

const builtin = new Map<number, ColumnType>(
  rows.flatMap(([oid, arrayOid, name, kind, jdbcType]) => {
    const type: ColumnType = { name, kind, jdbcType };
    const scalar: [number, ColumnType] = [oid, type];
    if (arrayOid === 0) return [scalar];
    const array: ColumnType = { name: `_${name}`, kind, jdbcType: jdbc.array, element: type };
    return [scalar, [arrayOid, array]];
  }),
);

interface CatalogType {
  readonly oid: number;
  readonly typname: string;
  readonly typtype: string;
}

/**
 * The types of a result's columns. Enums and `vector` are looked up in the catalog, for their OIDs differ between
 * databases.
 *
 * @throws DataApiError UnsupportedResultException for a type that the Data API cannot return.
 */
export async function columnTypes(
  client: pg.ClientBase,
  fields: readonly pg.FieldDef[],
): Promise<ColumnType[]> {
  const unknown = fields.map((field) => field.dataTypeID).filter((oid) => !builtin.has(oid));
  const custom = new Map<number, ColumnType>();
  if (unknown.length > 0) {
    const { rows } = await client.query<CatalogType>(
      'select oid, typname, typtype from pg_catalog.pg_type where oid = any($1::oid[])',
      [unknown],
    );
    for (const row of rows) custom.set(row.oid, customType(row));
  }
  return fields.map((field) => builtin.get(field.dataTypeID) ?? known(custom.get(field.dataTypeID), field));
}

function customType({ typname, typtype }: CatalogType): ColumnType {
  if (typtype === 'e') return { name: typname, kind: 'text', jdbcType: jdbc.varchar };
  if (typname === 'vector') return { name: typname, kind: 'text', jdbcType: jdbc.other };
  throw unsupported(typname);
}

function known(type: ColumnType | undefined, field: pg.FieldDef): ColumnType {
  if (!type) throw unsupported(String(field.dataTypeID));
  return type;
}

/**
 * The spelling of the name was captured from the service, for `"CHAR"` (PostgreSQL's one-byte type), `INTERVAL` and
 * `regclass`; it is documented nowhere.
 */
function unsupported(typname: string): DataApiError {
  const spelling =
    typname === 'char' ? '"CHAR"' : typname.startsWith('reg') ? typname : typname.toUpperCase();
  return new DataApiError(
    'UnsupportedResultException',
    `The result contains the unsupported data type ${spelling}.`,
  );
}
