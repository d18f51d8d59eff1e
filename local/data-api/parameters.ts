import { DataApiError } from './errors';

/** A statement with PostgreSQL's positional parameters instead of the Data API's named ones. */
export interface PositionalStatement {
  readonly text: string;
  /** The name of `$1`, of `$2`, and so on; each name once. */
  readonly names: readonly string[];
}

const escaped = String.raw`'[^'\\]*(?:(?:\\[^]|'')[^'\\]*)*(?:'|$)`;
/** White space with a newline, in which there may be comments: a string goes on after it. */
const continuation = String.raw`[ \t\f\v]*(?:--[^\n\r]*)?[\n\r](?:[ \t\n\r\f\v]|--[^\n\r]*[\n\r])*`;

/**
 * What can stand at a place in a statement, by PostgreSQL's lexical rules
 * (https://www.postgresql.org/docs/17/sql-syntax-lexical.html): escape string with its continuations, string, quoted
 * name, start of a dollar quote, positional parameter, comment, start of a block comment, cast or `:=`, our parameter,
 * a whole word (so that an `e` or `$` within a word opens nothing), anything else.
 */
const token = new RegExp(
  [
    `[eE]${escaped}(?:${continuation}${escaped})*`,
    `'[^']*(?:''[^']*)*(?:'|$)`,
    `"[^"]*(?:""[^"]*)*(?:"|$)`,
    String.raw`(?<dollarQuote>\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$)`,
    String.raw`(?<positional>\$\d+)`,
    String.raw`--[^\n\r]*`,
    String.raw`(?<blockComment>/\*)`,
    '::|:=',
    String.raw`:(?<name>[\p{L}\p{N}_]+)`,
    String.raw`[\p{L}\p{N}_][\p{L}\p{N}_$]*`,
    '[^]',
  ].join('|'),
  'uy',
);

/**
 * Replaces every `:name` outside literals, quoted names, dollar quotes, comments and `::casts` by `$n`, where n is
 * the place of the name's first occurrence. A name may start with a digit, as in AWS: the slice `a[1:2]` has the
 * parameter `2`. An unclosed token reaches to the end, and PostgreSQL reports the error.
 *
 * @throws DataApiError for a statement with both `:name` and `$1`, which would get the value of a name.
 */
export function toPositional(sql: string): PositionalStatement {
  const names: string[] = [];
  let text = '';
  let positional: string | undefined;
  let at = 0;
  while (at < sql.length) {
    token.lastIndex = at;
    const groups = token.exec(sql)?.groups ?? {};
    const end = groups.blockComment
      ? endOfBlockComment(sql, at)
      : groups.dollarQuote
        ? endOfDollarQuote(sql, at, groups.dollarQuote)
        : token.lastIndex;
    text += groups.name === undefined ? sql.slice(at, end) : `$${place(names, groups.name)}`;
    positional ??= groups.positional;
    at = end;
  }
  if (positional !== undefined && names.length > 0) {
    // PostgreSQL's own message for a missing parameter.
    throw new DataApiError(
      'DatabaseErrorException',
      `ERROR: there is no parameter ${positional}; SQLState: 42P02`,
    );
  }
  return { text, names };
}

function place(names: string[], name: string): number {
  const known = names.indexOf(name);
  return known >= 0 ? known + 1 : names.push(name);
}

function endOfDollarQuote(sql: string, start: number, delimiter: string): number {
  const close = sql.indexOf(delimiter, start + delimiter.length);
  return close < 0 ? sql.length : close + delimiter.length;
}

/** Block comments nest in PostgreSQL. */
function endOfBlockComment(sql: string, start: number): number {
  const bracket = /\/\*|\*\//g;
  bracket.lastIndex = start;
  let depth = 0;
  for (let match = bracket.exec(sql); match; match = bracket.exec(sql)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return bracket.lastIndex;
  }
  return sql.length;
}
