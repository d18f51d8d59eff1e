import fc from 'fast-check';
import pg from 'pg';
import { toPositional } from '../../../local/data-api/named-parameters';
import { startPostgres, type TestPostgres } from '../../support/postgres';

it.each([
  ['select :a, :b, :a', 'select $1, $2, $1'],
  ["select 'it''s :a', :b", "select 'it''s :a', $1"],
  ["select E'\\':a', :b", "select E'\\':a', $1"],
  ["select type':a', :b", "select type':a', $1"],
  ['select a$b$ :c', 'select a$b$ $1'],
  ['call p(a := :a::text)', 'call p(a := $1::text)'],
  ["select 'open :a", "select 'open :a"],
  ['select /* open :a', 'select /* open :a'],
  ['select $$ open :a', 'select $$ open :a'],
])('%s becomes %s', (sql, text) => {
  expect(toPositional(sql).text).toBe(text);
});

it('leaves every statement without a colon and a dollar as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const sql = text.replace(/[:$]/g, '');
      expect(toPositional(sql)).toEqual({ text: sql, names: [] });
    }),
  );
});

it.each(['select $1', 'select $1, :a'])('refuses positional parameters: %s', (sql) => {
  expect(() => toPositional(sql)).toThrow('Write :name in the place of $1.');
});

it('takes time in proportion to the length of the statement', () => {
  for (const piece of ["'", '"', '$$', '/*', "E'\\", ':a', '::', "''", '$a']) {
    const started = performance.now();
    toPositional(piece.repeat(65_536 / piece.length));
    expect(performance.now() - started).toBeLessThan(2_000);
  }
});

describe('PostgreSQL reads the same tokens', () => {
  let postgres: TestPostgres;
  let client: pg.Client;
  beforeAll(async () => {
    postgres = await startPostgres();
    const { host, port, superuser: user, password, database } = postgres;
    client = new pg.Client({ host, port, user, password, database });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await postgres.stop();
  });

  const content = fc.string({ unit: fc.constantFrom(...`:a1 '"$\\-*/;\n`), maxLength: 12 });
  const quoted = (text: string, mark: string) => `${mark}${text.replaceAll(mark, mark + mark)}${mark}`;
  const expression = fc.oneof(
    content.map((text) => ({ sql: quoted(text, "'"), value: text })),
    content.map((text) => ({ sql: `E'${text.replace(/['\\]/g, '\\$&')}'`, value: text })),
    content.map((text) => ({ sql: `$q$${text}$q$`, value: text })),
    fc.constantFrom('p', 'q1', 'r_2').map((name) => ({ sql: `:${name}::text`, value: `<${name}>` })),
    content.map((text) => ({
      sql: `(select ${quoted(`c${text}`, '"')} from (values ('v')) as t(${quoted(`c${text}`, '"')}))`,
      value: 'v',
    })),
  );
  const gap = fc.oneof(
    fc.constantFrom(' ', '\n'),
    content.map((text) => ` --${text.replaceAll('\n', '')}\n`),
    content.map((text) => ` /*${text.replace(/[*/]/g, '')}/*:p*/*/ `),
  );

  it('in statements made of literals, quoted names, casts, comments and parameters', async () => {
    const pieces = fc.array(fc.tuple(expression, gap), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(pieces, async (parts) => {
        const sql = `select ${parts.map(([{ sql }, space]) => `${space}${sql}${space}`).join('||')} as text`;
        const { text, names } = toPositional(sql);
        const values = names.map((name) => `<${name}>`);
        const { rows } = await client.query(text, values);
        expect(rows[0].text).toBe(parts.map(([{ value }]) => value).join(''));
      }),
      { numRuns: 300 },
    );
  });
});
