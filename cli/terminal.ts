import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { inspect } from 'node:util';
import { printable, printableLine } from '../domain/printable';

/**
 * Where a command writes. Results go to `result`, everything else to `note`. Both are printed as `printable`: no
 * character of a file, a variable or a server controls the terminal.
 */
export interface Terminal {
  result(text: string): void;
  note(text: string): void;
  /** The line that a person types after the question. Absent without a keyboard. */
  ask?(question: string): Promise<string>;
  /** Bold, if the results go to a terminal with colours. */
  bold(text: string): string;
  /** Red, if the results go to a terminal with colours. */
  bad(text: string): string;
  /** Red, if the notes go to a terminal with colours. */
  alarm(text: string): string;
}

interface Output {
  write(text: string): unknown;
  /** A terminal's: false under `NO_COLOR` and the like. Absent from files and pipes. */
  hasColors?(): boolean;
}

/** @param stdin a person's keyboard, if it is one. @default - no questions */
export function createTerminal(
  stdout: Output,
  stderr: Output,
  stdin?: NodeJS.ReadableStream & { readonly isTTY?: boolean },
): Terminal {
  // Stands for the escape character of our own styles, so that nobody else's is printed.
  const esc = randomUUID();
  const write = (output: Output, text: string) => void output.write(printable(text).replaceAll(esc, '\x1b'));
  // Not `styleText`: it asks stdout whether it shows colours, also for what goes to stderr.
  const style = (output: Output, format: 'bold' | 'red') => (text: string) => {
    const [on, off] = inspect.colors[format] as [number, number];
    return output.hasColors?.() ? `${esc}[${on}m${text}${esc}[${off}m` : text;
  };
  return {
    result: (text) => write(stdout, `${text}\n`),
    note: (text) => write(stderr, `${text}\n`),
    ...(stdin?.isTTY && {
      async ask(question: string) {
        write(stderr, question);
        // Empty when the input ends without a line.
        for await (const line of createInterface({ input: stdin })) return line;
        return '';
      },
    }),
    bold: style(stdout, 'bold'),
    bad: style(stdout, 'red'),
    alarm: style(stderr, 'red'),
  };
}

/** Lines of columns, each as wide as its widest cell; the first row is the heading. */
export function table(rows: readonly (readonly string[])[], heading: (text: string) => string): string {
  const [first = '', ...others] = columns(rows);
  return [heading(first), ...others].join('\n');
}

/** A line for each row, its cells as wide as the widest of their column. */
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
