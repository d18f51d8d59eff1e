import { createInterface } from 'node:readline';
import { inspect } from 'node:util';

/** Where a command writes. Results go to `result`, everything else to `note`; the streams stay apart. */
export interface Terminal {
  result(text: string): void;
  note(text: string): void;
  /** The line that a person types after the question. Absent without a keyboard. */
  ask?(question: string): Promise<string>;
  /** Bold, where the results go to a terminal that shows it. */
  bold(text: string): string;
  /** Red, where the results go to a terminal that shows it. */
  bad(text: string): string;
  /** Red, where the notes go to a terminal that shows it. */
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
  // Not `styleText`: it asks stdout whether it shows colours, also for what goes to stderr.
  const style = (output: Output, format: 'bold' | 'red') => (text: string) => {
    const [on, off] = inspect.colors[format] as [number, number];
    return output.hasColors?.() ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  };
  return {
    result: (text) => void stdout.write(`${text}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    ...(stdin?.isTTY && {
      ask: (question: string) => {
        stderr.write(question);
        return firstLine(stdin);
      },
    }),
    bold: style(stdout, 'bold'),
    bad: style(stdout, 'red'),
    alarm: style(stderr, 'red'),
  };
}

/** Empty when the input ends without one. */
function firstLine(input: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface({ input });
  return new Promise((resolve) => {
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => resolve(''));
  });
}

/** Lines of columns, each as wide as its widest cell; the first row is the heading. */
export function table(rows: readonly (readonly string[])[], heading: (text: string) => string): string {
  return columns(rows)
    .map((line, index) => (index === 0 ? heading(line) : line))
    .join('\n');
}

/** A line for each row, its cells as wide as the widest of their column. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
