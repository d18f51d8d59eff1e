import type pg from 'pg';
import type { ColumnType } from './column-types';

/** The columns of a result, in the form of `ColumnMetadata`. */
export type ColumnMetadata = Readonly<Record<string, string | number | boolean>>;

/** java.sql.ResultSetMetaData, which the numbers of `nullable` are of. */
const nullability = { never: 0, allowed: 1, unknown: 2 } as const;

interface Origin {
  readonly relation: number;
  readonly attribute: number;
  readonly schema: string;
  readonly table: string;
  readonly required: boolean;
  readonly identity: boolean;
  readonly serial: boolean;
}

const originsQuery = `
  select a.attrelid as relation, a.attnum as attribute, n.nspname as schema, c.relname as table,
         a.attnotnull as required, a.attidentity <> '' as identity,
         coalesce(pg_get_expr(d.adbin, d.adrelid) like 'nextval(%', false) as serial
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_class c on c.oid = a.attrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where a.attrelid = any($1::oid[])`;

/** Looks up the tables that the columns come from, and describes each column. */
export async function describeColumns(
  client: pg.ClientBase,
  fields: readonly pg.FieldDef[],
  types: readonly ColumnType[],
): Promise<ColumnMetadata[]> {
  const relations = fields.map((field) => field.tableID).filter((relation) => relation !== 0);
  const origins = relations.length === 0 ? [] : (await client.query<Origin>(originsQuery, [relations])).rows;
  return fields.map((field, index) =>
    describe(
      field,
      types[index] as ColumnType,
      origins.find(({ relation, attribute }) => relation === field.tableID && attribute === field.columnID),
    ),
  );
}

function describe(field: pg.FieldDef, type: ColumnType, origin: Origin | undefined): ColumnMetadata {
  return {
    name: field.name,
    type: type.jdbcType,
    typeName: origin?.serial ? serialName(type.name) : type.name,
    label: field.name,
    schemaName: origin?.schema ?? '',
    tableName: origin?.table ?? '',
    isAutoIncrement: origin !== undefined && (origin.serial || origin.identity),
    isSigned: isNumeric(type),
    isCurrency: false,
    isCaseSensitive: !type.element && type.kind === 'text',
    nullable: origin ? (origin.required ? nullability.never : nullability.allowed) : nullability.unknown,
    ...precisionAndScale(type, field.dataTypeModifier),
    arrayBaseColumnType: type.element?.jdbcType ?? 0,
  };
}

/** AWS names a serial column by how it was declared. */
function serialName(name: string): string {
  const names: Readonly<Record<string, string>> = { int2: 'smallserial', int4: 'serial', int8: 'bigserial' };
  return names[name] ?? name;
}

function isNumeric({ kind, element }: ColumnType): boolean {
  return !element && (kind === 'long' || kind === 'double' || kind === 'decimal');
}

/** Digits of the types that always have as many, and of their fractions. */
const fixed: Readonly<Record<string, readonly [precision: number, scale: number]>> = {
  bool: [1, 0],
  int2: [5, 0],
  int4: [10, 0],
  int8: [19, 0],
  float4: [8, 8],
  float8: [17, 17],
  date: [13, 0],
  time: [15, 6],
  timestamp: [29, 6],
  timestamptz: [35, 6],
};

/** What a type modifier carries besides the length or the digits; PostgreSQL's VARHDRSZ. */
const modifierHeader = 4;
const unlimitedLength = 2_147_483_647;

function precisionAndScale(type: ColumnType, modifier: number): { precision: number; scale: number } {
  const { name } = type.element ?? type;
  const [precision, scale] = fixed[name] ?? [unlimitedLength, 0];
  if (modifier < modifierHeader) return { precision: name === 'numeric' ? 0 : precision, scale };
  const declared = modifier - modifierHeader;
  if (name === 'numeric') return { precision: declared >> 16, scale: declared & 0x7ff };
  if (name === 'varchar' || name === 'bpchar') return { precision: declared, scale: 0 };
  return { precision, scale };
}
