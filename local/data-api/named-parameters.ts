import { AwsError } from '../network/aws-server';

/** A statement with PostgreSQL's positional parameters instead of the Data API's named ones. */
export interface PositionalStatement {
  readonly text: string;
  /** The name of `$1`, of `$2`, and so on; each name once. */
  readonly names: readonly string[];
}

/**
 * What can stand at a place in a statement (https://www.postgresql.org/docs/17/sql-syntax-lexical.html): escape string,
 * string, quoted name, start of a dollar quote, positional parameter, comment, start of a block comment, cast or `:=`, our
 * parameter, a whole word (so that an `e` or `$` within a word opens nothing), anything else.
 */
const token = new RegExp(
  [
    String.raw`[eE]'[^'\\]*(?:(?:\\[^]|'')[^'\\]*)*(?:'|$)`,
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
 * Replaces every `:name` outside literals, quoted names, dollar quotes, comments and `::casts` by `$n`, where n is the
 * place of the name's first occurrence. An unclosed token reaches to the end, and PostgreSQL reports the error.
 *
 * @throws AwsError for `$1` in the statement: with `:name` beside it, it would get the value of a name
 */
export function toPositional(sql: string): PositionalStatement {
  const names: string[] = [];
  let text = '';
  for (let at = 0; at < sql.length; ) {
    token.lastIndex = at;
    const { name, positional, dollarQuote, blockComment } = token.exec(sql)?.groups ?? {};
    if (positional) throw new AwsError('ValidationException', `Write :name in the place of ${positional}.`);
    let end = token.lastIndex;
    if (blockComment) end = endOfBlockComment(sql, at);
    if (dollarQuote) end = indexAfter(sql, dollarQuote, end);
    if (name && !names.includes(name)) names.push(name);
    text += name ? `$${names.indexOf(name) + 1}` : sql.slice(at, end);
    at = end;
  }
  return { text, names };
}

function indexAfter(sql: string, delimiter: string, from: number): number {
  const found = sql.indexOf(delimiter, from);
  return found < 0 ? sql.length : found + delimiter.length;
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
