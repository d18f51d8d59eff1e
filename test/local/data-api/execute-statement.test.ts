import type { Field, SqlParameter } from '@aws-sdk/client-rds-data';
import fc from 'fast-check';
import { type Fixture, refusalOf, resourceArn, secretArn, secretOf, startFixture } from './support';

let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture();
  await fixture.execute(`create type mood as enum ('glad', 'sad')`);
  await fixture.execute(`create table item (
    id serial primary key, big bigint generated always as identity, name varchar(20) not null,
    price numeric(10, 2), tags text[], at timestamptz)`);
  await fixture.execute(`create role abroad login password 'abroad'`);
  for (const setting of ["timezone = 'Asia/Tokyo'", "datestyle = 'German'", 'extra_float_digits = -5']) {
    await fixture.execute(`alter role abroad set ${setting}`);
  }
});
afterAll(() => fixture.stop());

async function selected(expression: string, input: Parameters<Fixture['execute']>[1] = {}): Promise<Field> {
  const { records } = await fixture.execute(`select ${expression} as value`, input);
  return records?.[0]?.[0] as Field;
}

/** Without the SDK, whose numbers end at 2^53: a text of digits is sent as a number. */
const post = (input: object) =>
  fetch(`${fixture.api.url}/Execute`, {
    method: 'POST',
    body: JSON.stringify({ resourceArn, secretArn, ...input }).replace(/"(-\d+)"/, '$1'),
  });

describe('values', () => {
  it.each<[string, Field]>([
    ['null::int', { isNull: true }],
    ['true', { booleanValue: true }],
    ['7::int2', { longValue: 7 }],
    ['-7::int4', { longValue: -7 }],
    ['9007199254740991::int8', { longValue: 9007199254740991 }],
    ['12::oid', { longValue: 12 }],
    ['1.5::float4', { doubleValue: 1.5 }],
    ['10::float8', { doubleValue: 10 }],
    ["'infinity'::float8", { doubleValue: Number.POSITIVE_INFINITY }],
    ['1.50::numeric', { stringValue: '1.50' }],
    ["'naïve ✓'::text", { stringValue: 'naïve ✓' }],
    ["''::text", { stringValue: '' }],
    ["'ab'::char(4)", { stringValue: 'ab  ' }],
    ["'ab'::name", { stringValue: 'ab' }],
    ["'\\x00ff'::bytea", { blobValue: Uint8Array.from([0, 255]) }],
    [`'{"a": 1}'::jsonb`, { stringValue: '{"a": 1}' }],
    ["'{}'::json", { stringValue: '{}' }],
    ["'8d7ae0a4-0d8d-4c4e-9d43-58a0c0a3a1b5'::uuid", { stringValue: '8d7ae0a4-0d8d-4c4e-9d43-58a0c0a3a1b5' }],
    ["'10.0.0.1'::inet", { stringValue: '10.0.0.1' }],
    ["'10.0.0.0/8'::cidr", { stringValue: '10.0.0.0/8' }],
    ["'sad'::mood", { stringValue: 'sad' }],
    ["'2024-02-29'::date", { stringValue: '2024-02-29' }],
    ["'12:34:56.7'::time", { stringValue: '12:34:56.700' }],
    ["'2024-02-29 12:34:56'::timestamp", { stringValue: '2024-02-29 12:34:56' }],
    ["'2024-02-29 12:34:56.123456'::timestamp", { stringValue: '2024-02-29 12:34:56.123456' }],
    ["'2024-02-29 12:34:56.5+09'::timestamptz", { stringValue: '2024-02-29 03:34:56.500' }],
    ["'0044-03-15 12:00:00+00 BC'::timestamptz", { stringValue: '0044-03-15 12:00:00 BC' }],
    ['array[1, null, 3]', { arrayValue: { longValues: [1, null as never, 3] } }],
    ['array[true, false]', { arrayValue: { booleanValues: [true, false] } }],
    ['array[1.5::float8]', { arrayValue: { doubleValues: [1.5] } }],
    ['array[1.50]', { arrayValue: { stringValues: ['1.50'] } }],
    [
      `array['a "b"', 'c,d', null, '']`,
      { arrayValue: { stringValues: ['a "b"', 'c,d', null as never, ''] } },
    ],
    ["array['2024-02-29 12:00+01'::timestamptz]", { arrayValue: { stringValues: ['2024-02-29 11:00:00'] } }],
    ["'{}'::int[]", { arrayValue: { longValues: [] } }],
  ])('%s', async (expression, field) => {
    expect(await selected(expression)).toEqual(field);
  });

  it('beyond 2^53 are exact in the answer, and as a string on request', async () => {
    const response = await post({ sql: 'select 9223372036854775807::int8 as value' });
    expect(await response.text()).toContain('"longValue":9223372036854775807');
    const asString = await selected('9223372036854775807::int8', {
      resultSetOptions: { longReturnType: 'STRING' },
    });
    expect(asString).toEqual({ stringValue: '9223372036854775807' });
  });

  it.each<[string, Field]>([
    ['12::numeric', { longValue: 12 }],
    ['12.5::numeric', { doubleValue: 12.5 }],
    ['-9223372036854775808::numeric', { longValue: -(2 ** 63) }],
    ['9223372036854775808::numeric', { doubleValue: 2 ** 63 }],
    ['array[1, 2.5]::numeric[]', { arrayValue: { doubleValues: [1, 2.5] } }],
    ['array[1, 1e20]::numeric[]', { arrayValue: { doubleValues: [1, 1e20] } }],
  ])('%s is a number with DOUBLE_OR_LONG', async (expression, field) => {
    expect(await selected(expression, { resultSetOptions: { decimalReturnType: 'DOUBLE_OR_LONG' } })).toEqual(
      field,
    );
  });

  it.each([
    ["'1 day'::interval", 'INTERVAL'],
    ["'12:00+02'::timetz", 'TIMETZ'],
    ["'(1,2)'::point", 'POINT'],
    ['1::money', 'MONEY'],
    ['int4range(1, 2)', 'INT4RANGE'],
    [`'x'::"char"`, '"CHAR"'],
    ["'pg_class'::regclass", 'regclass'],
    ["array['sad'::mood]", '_MOOD'],
  ])('%s cannot be returned', async (expression, name) => {
    expect(await refusalOf(selected(expression))).toBe(
      `400 UnsupportedResultException: The result contains the unsupported data type ${name}.`,
    );
  });
});

describe('settings', () => {
  /** The rows of `expressions` in a transaction after `setting`. */
  async function withSetting(setting: string, expressions: string) {
    const transactionId = await fixture.begin();
    try {
      await fixture.execute(`set ${setting}`, { transactionId });
      return (await fixture.execute(`select ${expressions}`, { transactionId })).records?.[0];
    } finally {
      await fixture.rollback(transactionId);
    }
  }

  it('of the role do not change how a session begins', async () => {
    const { records } = await fixture.execute(
      `select '2024-02-29 12:00'::timestamptz, '2024-02-29'::date, 0.1::float8 + 0.2::float8`,
      { secretArn: secretOf('abroad') },
    );
    expect(records?.[0]).toEqual([
      { stringValue: '2024-02-29 12:00:00' },
      { stringValue: '2024-02-29' },
      { doubleValue: 0.1 + 0.2 },
    ]);
  });

  it.each([
    ['Asia/Tokyo', '2024-02-29 23:59:59.5+00', '2024-02-29 23:59:59.500'],
    ['Asia/Kathmandu', '1999-12-31 20:00+00', '1999-12-31 20:00:00'],
    ['America/New_York', '2024-07-01 00:30+00', '2024-07-01 00:30:00'],
    ['Asia/Tokyo', '1800-01-01 00:00:00.123456+00', '1800-01-01 00:00:00.123456'],
    ['America/New_York', '0001-01-01 00:00+00', '0001-01-01 00:00:00'],
    ['Asia/Tokyo', '0001-12-31 23:00+00 BC', '0001-12-31 23:00:00 BC'],
    ['Asia/Tokyo', '10000-01-01 00:00+00', '10000-01-01 00:00:00'],
  ])('timezone %s: %s is still in UTC', async (zone, timestamp, text) => {
    expect(
      await withSetting(`timezone = '${zone}'`, `'${timestamp}'::timestamptz, '${timestamp}'::date`),
    ).toEqual([{ stringValue: text }, { stringValue: expect.any(String) }]);
  });

  it.each(["'2024-02-29'::date", 'now()', 'now()::timestamp', 'array[now()]'])(
    'datestyle other than ISO: %s is refused',
    async (expression) => {
      for (const style of ['German', 'SQL', 'Postgres']) {
        expect(await refusalOf(withSetting(`datestyle = '${style}'`, expression))).toBe(
          '400 UnsupportedResultException: The result contains a date or time that is not in ISO form: DateStyle must stay ISO.',
        );
      }
    },
  );

  it('bytea_output escape: bytes are the same', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const hex = Buffer.from(bytes).toString('hex');
    expect(await withSetting('bytea_output = escape', `'\\x${hex}'::bytea, '\\x5c7830'::bytea`)).toEqual([
      { blobValue: bytes },
      { blobValue: Uint8Array.from([0x5c, 0x78, 0x30]) },
    ]);
  });
});

describe('parameters', () => {
  const parameter = (value: Field, typeHint?: SqlParameter['typeHint']) => ({
    parameters: [{ name: 'x', value, typeHint }],
  });

  it.each<[Field, SqlParameter['typeHint'], string]>([
    [{ stringValue: 'a' }, undefined, 'text'],
    [{ longValue: 1 }, undefined, 'bigint'],
    [{ doubleValue: 1.5 }, undefined, 'double precision'],
    [{ booleanValue: true }, undefined, 'boolean'],
    [{ blobValue: Uint8Array.from([1, 2]) }, undefined, 'bytea'],
    [{ stringValue: '{"a":1}' }, 'JSON', 'json'],
    [{ stringValue: '8d7ae0a4-0d8d-4c4e-9d43-58a0c0a3a1b5' }, 'UUID', 'uuid'],
    [{ stringValue: '2024-02-29 12:34:56.789' }, 'TIMESTAMP', 'timestamp without time zone'],
    [{ stringValue: '2024-02-29' }, 'DATE', 'date'],
    [{ stringValue: '12:34:56' }, 'TIME', 'time without time zone'],
    [{ stringValue: '1.50' }, 'DECIMAL', 'numeric'],
    [{ isNull: true }, 'UUID', 'uuid'],
  ])('%j with hint %s is sent as %s', async (value, typeHint, type) => {
    const { records } = await fixture.execute('select pg_typeof(:x)::text, :x', parameter(value, typeHint));
    expect(records?.[0]).toEqual([{ stringValue: type }, value]);
  });

  it('survive the way there and back whatever they contain', async () => {
    const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''));
    // The client's JSON has no negative zero.
    const double = fc.double().map((value) => (value === 0 ? 0 : value));
    await fc.assert(
      fc.asyncProperty(text, fc.maxSafeInteger(), double, fc.uint8Array(), async (s, l, d, b) => {
        const values: Field[] = [{ stringValue: s }, { longValue: l }, { doubleValue: d }, { blobValue: b }];
        const { records } = await fixture.execute('select :p0, :p1, :p2, :p3', {
          parameters: values.map((value, index) => ({ name: `p${index}`, value })),
        });
        expect(records?.[0]).toEqual(values);
      }),
      { numRuns: 100 },
    );
  });

  it('beyond 2^53 are exact', async () => {
    const parameters = [{ name: 'x', value: { longValue: '-9223372036854775808' } }];
    const response = await post({ sql: 'select :x::text', parameters });
    expect(await response.json()).toMatchObject({ records: [[{ stringValue: '-9223372036854775808' }]] });
  });

  it('that are superfluous are ignored', async () => {
    const { records } = await fixture.execute('select 1', parameter({ stringValue: 'unused' }));
    expect(records).toEqual([[{ longValue: 1 }]]);
  });

  it('that have no value are null, and of two of one name the last counts', async () => {
    const { records } = await fixture.execute('select :x::int', { parameters: [{ name: 'x' }] });
    expect(records?.[0]).toEqual([{ isNull: true }]);
    const twice = [1, 2].map((value) => ({ name: 'x', value: { longValue: value } }));
    expect((await fixture.execute('select :x', { parameters: twice })).records?.[0]).toEqual([
      { longValue: 2 },
    ]);
  });
});

describe('results', () => {
  it('of a change have the number of records and empty generated fields', async () => {
    const { records, columnMetadata, formattedRecords, ...rest } = await fixture.execute(
      `insert into item (name) values ('a'), ('b')`,
    );
    expect({ records, columnMetadata, formattedRecords }).toEqual({});
    expect(rest).toMatchObject({ numberOfRecordsUpdated: 2, generatedFields: [] });
  });

  it('of a change that returns rows have both', async () => {
    const answer = await fixture.execute(`insert into item (name) values ('c') returning name`);
    expect(answer).toMatchObject({ numberOfRecordsUpdated: 1, records: [[{ stringValue: 'c' }]] });
  });

  it('describe their columns on request', async () => {
    const { columnMetadata, numberOfRecordsUpdated } = await fixture.execute(
      'select id, big, name as label, price, tags, at, 1 + 1 as two from item',
      { includeResultMetadata: true },
    );
    expect(numberOfRecordsUpdated).toBe(0);
    const of = (name: string) => columnMetadata?.find((column) => column.name === name);
    expect(of('id')).toEqual({
      name: 'id',
      type: 4,
      typeName: 'serial',
      label: 'id',
      schemaName: 'public',
      tableName: 'item',
      isAutoIncrement: true,
      isSigned: true,
      isCurrency: false,
      isCaseSensitive: false,
      nullable: 0,
      precision: 10,
      scale: 0,
      arrayBaseColumnType: 0,
    });
    expect(of('big')).toMatchObject({ typeName: 'int8', type: -5, isAutoIncrement: true });
    expect(of('label')).toMatchObject({
      typeName: 'varchar',
      type: 12,
      precision: 20,
      isCaseSensitive: true,
    });
    expect(of('price')).toMatchObject({ typeName: 'numeric', type: 2, precision: 10, scale: 2, nullable: 1 });
    expect(of('tags')).toMatchObject({ typeName: '_text', type: 2003, arrayBaseColumnType: 12 });
    expect(of('at')).toMatchObject({ typeName: 'timestamptz', type: 93 });
    expect(of('two')).toMatchObject({ typeName: 'int4', tableName: '', nullable: 2 });
  });

  it('as JSON are one text without records and metadata', async () => {
    const { formattedRecords, records, columnMetadata } = await fixture.execute(
      `select 17 as a, 10::float8 as b, 'q"✓' as c, null as d, true as e, 1.5 as f,
              '\\x68656c6c6f20776f726c64'::bytea as g, array[1, null] as h, 9223372036854775807 as i`,
      { formatRecordsAs: 'JSON', includeResultMetadata: true },
    );
    expect(formattedRecords).toBe(
      '[{"a":17,"b":10.0,"c":"q\\"✓","d":null,"e":true,"f":"1.5","g":"aGVsbG8gd29ybGQ=","h":[1,null],"i":9223372036854775807}]',
    );
    expect({ records, columnMetadata }).toEqual({});
  });

  it('as JSON keep the order of their columns', async () => {
    const { formattedRecords } = await fixture.execute('select 1 as "2", 2 as "1", 3 as "__proto__"', {
      formatRecordsAs: 'JSON',
    });
    expect(formattedRecords).toBe('[{"2":1,"1":2,"__proto__":3}]');
  });

  it('as JSON are refused over 10 MB, which long labels can make of a small result', async () => {
    const columns = Array.from({ length: 40 }, (_, index) => `1 as "${String(index).padStart(63, '_')}"`);
    const rows = (count: number) => `select ${columns} from generate_series(1, ${count})`;
    // 68 bytes a column with its value and punctuation, and two more a row; in the result it is 5 a column.
    const most = Math.floor((10 * 1024 * 1024) / (40 * 68 + 2));
    const { formattedRecords } = await fixture.execute(rows(most), { formatRecordsAs: 'JSON' });
    expect(JSON.parse(formattedRecords as string)).toHaveLength(most);
    expect(await refusalOf(fixture.execute(rows(most + 1), { formatRecordsAs: 'JSON' }))).toBe(
      '400 BadRequestException: The JSON response exceeds the size limit 10 MB',
    );
  });

  it('as JSON are for SELECT only', async () => {
    const { formattedRecords, records } = await fixture.execute(
      `insert into item (name) values ('d') returning name`,
      { formatRecordsAs: 'JSON' },
    );
    expect({ formattedRecords, records }).toEqual({ records: [[{ stringValue: 'd' }]] });
  });

  it('may have 1 MiB, and 64 KiB a row', async () => {
    const { records } = await fixture.execute(`select repeat('x', 1018) from generate_series(1, 1024)`);
    expect(records).toHaveLength(1024);
    expect(await selected(`repeat('x', ${64 * 1024 - 6})`)).toHaveProperty('stringValue');
  });

  it.each(['hex', 'escape'])('count the bytes of a BYTEA once, with bytea_output %s', async (output) => {
    const transactionId = await fixture.begin();
    await fixture.execute(`set local bytea_output = ${output}`, { transactionId });
    const bytes = (length: number, rows = 1) =>
      fixture.execute(`select decode(repeat('ff', ${length}), 'hex') from generate_series(1, ${rows})`, {
        transactionId,
      });
    const { records } = await bytes(64 * 1024 - 6);
    expect(records?.[0]?.[0]?.blobValue).toHaveLength(64 * 1024 - 6);
    expect((await bytes(1018, 1024)).records).toHaveLength(1024);
    expect(await refusalOf(bytes(64 * 1024 - 5))).toContain('Packet for query is too large');
    expect(await refusalOf(bytes(1018, 1025))).toContain('The result exceeds the size limit 1 MB.');
    await fixture.rollback(transactionId);
  });
});
