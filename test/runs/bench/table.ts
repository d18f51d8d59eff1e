import { columns } from '../../../cli/terminal';
import { formatChecks, isBroken } from '../harness/checks';
import { formatNumber } from '../harness/report';
import { type Figure, meetsGoal, type PartName, type PartResult, type Unit } from './figures';

export type Results = Readonly<Partial<Record<PartName, PartResult>>>;

const heading = ['part', 'what', 'median', 'p99', 'against', 'median', 'p99', 'n', 'ratio', 'goal', ''];

/** The figures in columns, and below them the checks. */
export function formatResults(results: Results): string {
  const rows = Object.entries(results).flatMap(([part, { figures }]) =>
    figures.map((figure) => figureRow(part, figure)),
  );
  return [...columns([heading, ...rows]), ...formatChecks(checksOf(results))].join('\n');
}

/** Goals that were missed and checks that do not hold, each in a line. */
export function shortcomings(results: Results): string[] {
  const missed = Object.entries(results).flatMap(([part, { figures }]) =>
    figures
      .filter((figure) => meetsGoal(figure) === false)
      .map(
        ({ what, against, ratio, goal }) =>
          `${part}: ${what} against ${against}: ${formatRatio(ratio)}, ${formatGoal(goal)}`,
      ),
  );
  return [...missed, ...formatChecks(checksOf(results).filter(isBroken))];
}

const checksOf = (results: Results) => Object.values(results).flatMap(({ checks = [] }) => checks);

function figureRow(part: string, figure: Figure): string[] {
  const { what, against, unit, value, baseline, p99, baselineP99, samples, ratio, goal } = figure;
  const met = meetsGoal(figure);
  return [
    ...[part, what, formatValue(value, unit), formatValue(p99, unit)],
    ...[against, formatValue(baseline, unit), formatValue(baselineP99, unit)],
    ...[String(samples), formatRatio(ratio), formatGoal(goal)],
    met === undefined ? '' : met ? 'met' : '**missed**',
  ];
}

const formatRatio = (ratio: number) => `${ratio.toFixed(ratio < 0.1 ? 3 : 2)}×`;

const formatGoal = (goal: Figure['goal']) => (goal ? `${goal.bound} ${goal.ratio}×` : '');

function formatValue(value: number | undefined, unit: Unit): string {
  if (value === undefined) return '';
  return `${formatNumber(value)}${unit === '/s' ? '' : ' '}${unit}`;
}
