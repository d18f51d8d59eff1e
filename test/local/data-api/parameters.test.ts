import fc from 'fast-check';
import pg from 'pg';
import { toPositional } from '../../../local/data-api/parameters';
import { startPostgres, type TestPostgres } from '../../support/postgres';

describe('named parameters', () => {
  it.each([
    ['select :a', 'select $1'],
    ['select :a, :b, :a', 'select $1, $2, $1'],
    ['select :a::text', 'select $1::text'],
    ["select ':a'", "select ':a'"],
    ["select 'it''s :a', :b", "select 'it''s :a', $1"],
    ["select E'\\':a', :b", "select E'\\':a', $1"],
    ["select type':a', :b", "select type':a', $1"],
    ['select ":a"":b", :c', 'select ":a"":b", $1'],
    ['select $$:a$$, :b', 'select $$:a$$, $1'],
    ['select $x$ $$ :a $x$, :b', 'select $x$ $$ :a $x$, $1'],
    ['select a$b$ :c', 'select a$b$ $1'],
    ['select $1', 'select $1'],
    ["select E'a'\n'\\' :a'", "select E'a'\n'\\' :a'"],
    ["select E'a' -- it's\n -- so\n'\\' :a', :b", "select E'a' -- it's\n -- so\n'\\' :a', $1"],
    ["select E'a' '\\' :a", "select E'a' '\\' $1"],
    ["select 'a'\n'\\' :a", "select 'a'\n'\\' $1"],
    ['select 1 -- :a\n, :b', 'select 1 -- :a\n, $1'],
    ['select 1 /* /* :a */ :b */, :c', 'select 1 /* /* :a */ :b */, $1'],
    ['do $$ begin x := :y; end $$', 'do $$ begin x := :y; end $$'],
    ['call p(a := :a)', 'call p(a := $1)'],
    ['select a[1:2]', 'select a[1$1]'],
    ["select 'open :a", "select 'open :a"],
    ['select /* open :a', 'select /* open :a'],
    ['select $$ open :a', 'select $$ open :a'],
  ])('%s becomes %s', (sql, text) => {
    expect(toPositional(sql).text).toBe(text);
  });

  it('leave every statement without a colon as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const sql = text.replaceAll(':', '');
        expect(toPositional(sql)).toEqual({ text: sql, names: [] });
      }),
    );
  });

  it.each(['select $1, :a', 'select :a where $2'])('cannot stand beside positional ones: %s', (sql) => {
    expect(() => toPositional(sql)).toThrow(/^ERROR: there is no parameter \$\d; SQLState: 42P02$/);
  });

  it('take time in proportion to the length of the statement', () => {
    const pieces = ["'", '"', '$$', '/*', "E'\\", ':a', '::', "''", '$a', "E''\n", "E'' --", "E''--\n--"];
    for (const piece of pieces) {
      const started = performance.now();
      toPositional(piece.repeat(65_536 / piece.length));
      expect(performance.now() - started).toBeLessThan(2_000);
    }
  });
});

describe('PostgreSQL reads the same tokens as we do', () => {
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
  const commentless = (text: string) => text.replaceAll('/*', '').replaceAll('*/', '').replace(/[*/]/g, '');

  const lineGap = fc
    .array(
      fc.oneof(
        fc.constantFrom(' ', '\t', '\n'),
        content.map((text) => `--${text.replaceAll('\n', '')}\n`),
      ),
    )
    .map((pieces) => `${pieces.join('')}\n`);
  /** A string in several parts, each on a line of its own. */
  const continued = (prefix: string, literal: (text: string) => string) =>
    fc.tuple(content, fc.array(fc.tuple(lineGap, content), { maxLength: 3 })).map(([first, others]) => ({
      sql: [`${prefix}${literal(first)}`, ...others.map(([gap, text]) => `${gap}${literal(text)}`)].join(''),
      value: [first, ...others.map(([, text]) => text)].join(''),
    }));

  /** An SQL expression that is text, and what it must yield. */
  const expression = fc.oneof(
    continued('', (text) => quoted(text, "'")),
    continued('E', (text) => quoted(text.replaceAll('\\', '\\\\'), "'")),
    continued('E', (text) => `'${text.replace(/['\\]/g, '\\$&')}'`),
    content.map((text) => ({ sql: `$q$${text}$q$`, value: text })),
    content.filter((text) => !text.includes('$')).map((text) => ({ sql: `$$${text}$$`, value: text })),
    fc.constantFrom('p', 'q1', 'r_2').map((name) => ({ sql: `:${name}`, value: `<${name}>` })),
    fc.constantFrom('p', 'q1').map((name) => ({ sql: `:${name}::text`, value: `<${name}>` })),
    content.map((text) => ({
      sql: `(select ${quoted(`c${text}`, '"')} from (values ('v')) as t(${quoted(`c${text}`, '"')}))`,
      value: 'v',
    })),
  );
  const gap = fc.oneof(
    fc.constantFrom(' ', '\n'),
    content.map((text) => ` --${text.replaceAll('\n', '')}\n`),
    content.map((text) => ` /*${commentless(text)}/*:p*/${commentless(text)}*/ `),
  );

  it('in statements made of literals, quoted names, dollar quotes, casts, comments and parameters', async () => {
    const pieces = fc.array(fc.tuple(expression, gap), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(pieces, async (parts) => {
        const sql = `select ${parts.map(([{ sql }, space]) => `${space}${sql}${space}`).join('||')} as text`;
        const { text, names } = toPositional(sql);
        const { rows } = await client.query(
          text,
          names.map((name) => `<${name}>`),
        );
        expect(rows[0].text).toBe(parts.map(([{ value }]) => value).join(''));
      }),
      { numRuns: 500 },
    );
  });
});
