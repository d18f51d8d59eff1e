import { styleText } from 'node:util';

/** Where a command writes. Results go to `result`, everything else to `note`; the streams stay apart. */
export interface Terminal {
  result(text: string): void;
  note(text: string): void;
  /** Bold, where the results go to a terminal that shows it. */
  bold(text: string): string;
  /** Red, where the notes go to a terminal that shows it. */
  alarm(text: string): string;
}

interface Output {
  write(text: string): unknown;
  /** A terminal's: false under `NO_COLOR` and the like. Absent from files and pipes. */
  hasColors?(): boolean;
}

export function createTerminal(stdout: Output, stderr: Output): Terminal {
  const style = (output: Output, format: 'bold' | 'red') => (text: string) =>
    output.hasColors?.() ? styleText(format, text) : text;
  return {
    result: (text) => void stdout.write(`${text}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    bold: style(stdout, 'bold'),
    alarm: style(stderr, 'red'),
  };
}

/** Lines of columns, each as wide as its widest cell; the first row is the heading. */
export function table(rows: readonly (readonly string[])[], heading: (text: string) => string): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line, index) => (index === 0 ? heading(line) : line)).join('\n');
}
