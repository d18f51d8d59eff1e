import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { printable, printableLine } from '../../domain/printable';

/** Both pass through `printable`: no control character of a file, a variable or a server reaches the terminal. */
export interface Terminal {
  result(text: string): void;
  note(text: string): void;
  /** Characters in a line of the results. @default - any number: they go to a file or a pipe */
  readonly width?: number | undefined;
  /** Bold, if the results go to a terminal with colours. */
  bold(text: string): string;
  /** Red, if the results go to a terminal with colours. */
  bad(text: string): string;
  /** Red, if the notes go to a terminal with colours. */
  alarm(text: string): string;
}

interface Output {
  write(text: string): unknown;
  /** False with `NO_COLOR` and the like. Absent for files and pipes. */
  hasColors?(): boolean;
  readonly columns?: number | undefined;
}

export function createTerminal(stdout: Output, stderr: Output): Terminal {
  // Placeholder for the escape character of our styles: `printable` removes all others.
  const esc = randomUUID();
  const write = (output: Output, text: string) => void output.write(printable(text).replaceAll(esc, '\x1b'));
  // Not `styleText`: it checks stdout for color support, even for text on stderr.
  const style = (output: Output, format: 'bold' | 'red') => (text: string) => {
    const [on, off] = inspect.colors[format] as [number, number];
    return output.hasColors?.() ? `${esc}[${on}m${text}${esc}[${off}m` : text;
  };
  return {
    result: (text) => write(stdout, `${text}\n`),
    note: (text) => write(stderr, `${text}\n`),
    width: stdout.columns,
    bold: style(stdout, 'bold'),
    bad: style(stdout, 'red'),
    alarm: style(stderr, 'red'),
  };
}

/** Aligned columns; the first row is the heading. Where they are wider than the terminal, a block for each row. */
export function table(
  rows: readonly (readonly string[])[],
  { bold, width = Number.POSITIVE_INFINITY }: Pick<Terminal, 'bold' | 'width'>,
): string {
  const [first = '', ...others] = columns(rows);
  if ([first, ...others].every((line) => line.length <= width)) return [bold(first), ...others].join('\n');
  const [heading = [], ...entries] = rows;
  const blocks = entries.map((entry) =>
    columns(heading.flatMap((name, column) => (entry[column] ? [[name.toLowerCase(), entry[column]]] : []))),
  );
  return blocks.map((lines) => lines.join('\n')).join('\n\n');
}

export function columns(table: readonly (readonly string[])[]): readonly string[] {
  const rows = table.map((row) => row.map(printableLine));
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = (rows[0] ?? []).map((_, column) => width(column));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Escapes a line or table cell of Markdown: names and values from AWS may contain any text. A terminal shows it unchanged. */
export const escapeMarkdown = (text: string, { width }: Pick<Terminal, 'width'>): string =>
  width !== undefined
    ? text.replaceAll(/\s+/g, ' ')
    : text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
