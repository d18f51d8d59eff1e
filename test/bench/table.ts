import { type Check, type Figure, meetsGoal, type PartName, type PartResult, type Unit } from './figures';

export type Results = Readonly<Partial<Record<PartName, PartResult>>>;

const heading = ['part', 'what', 'median', 'p99', 'against', 'median', 'p99', 'n', 'ratio', 'goal', ''];

/** The figures as a table in Markdown, which a terminal shows well enough, and below it the checks. */
export function formatResults(results: Results): string {
  const parts = Object.entries(results);
  const rows = parts.flatMap(([part, { figures }]) => figures.map((figure) => figureRow(part, figure)));
  const checks = parts.flatMap(([part, result]) =>
    (result.checks ?? []).map((check) => checkLine(part, check)),
  );
  return [rows.length > 0 ? markdownTable([heading, ...rows]) : '', checks.join('\n')]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** Goals that were missed and checks that do not hold, each in a line. */
export function shortcomings(results: Results): string[] {
  return Object.entries(results).flatMap(([part, { figures, checks = [] }]) => [
    ...figures
      .filter((figure) => meetsGoal(figure) === false)
      .map(
        ({ what, against, ratio, goal }) =>
          `${part}: ${what} against ${against}: ${formatRatio(ratio)}, ${formatGoal(goal)}`,
      ),
    ...checks.filter(({ holds }) => !holds).map((check) => checkLine(part, check)),
  ]);
}

function figureRow(part: string, figure: Figure): string[] {
  const { what, against, unit, value, baseline, p99, baselineP99, samples, ratio, goal } = figure;
  const met = meetsGoal(figure);
  return [
    part,
    what,
    formatValue(value, unit),
    p99 === undefined ? '' : formatValue(p99, unit),
    against,
    formatValue(baseline, unit),
    baselineP99 === undefined ? '' : formatValue(baselineP99, unit),
    String(samples),
    formatRatio(ratio),
    formatGoal(goal),
    met === undefined ? '' : met ? 'met' : '**missed**',
  ];
}

const checkLine = (part: string, { what, holds, detail }: Check) =>
  `- ${part}: ${what}: ${holds ? 'yes' : '**no**'} (${detail})`;

const formatRatio = (ratio: number) => `${ratio.toFixed(ratio < 0.1 ? 3 : 2)}×`;

const formatGoal = (goal: Figure['goal']) => (goal ? `${goal.bound} ${goal.ratio}×` : '');

function formatValue(value: number, unit: Unit): string {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return unit === '/s' ? `${value.toFixed(digits)}/s` : `${value.toFixed(digits)} ${unit}`;
}

function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const [first = '', ...others] = rows.map(line);
  return [first, rule, ...others].join('\n');
}
