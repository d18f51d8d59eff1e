import { columns } from '../../../cli/terminal';
import { type Check, formatChecks, isBroken } from './checks';
import type { Outcome } from './command';

type Cell = string | number;

export interface Report {
  readonly seed: number;
  /** The keys of the rows head the columns. */
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, Cell>>[]>>;
  readonly facts?: Readonly<Record<string, Cell>>;
  readonly checks: readonly Check[];
}

/** @param json prints the report as it is @default - in tables */
export const outcome = (report: Report, json?: boolean): Outcome => ({
  report: json ? JSON.stringify(report) : format(report),
  failed: report.checks.some(isBroken),
});

function format({ seed, tables, facts = {}, checks }: Report): string {
  const texts = Object.values(tables)
    .filter((rows) => rows.length > 0)
    .map((rows) =>
      columns([Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row).map(inWords))]),
    );
  const lines = columns(Object.entries({ ...facts, seed }).map(([name, value]) => [name, inWords(value)]));
  return [...texts, lines, formatChecks(checks)].map((part) => part.join('\n')).join('\n\n');
}

const inWords = (cell: Cell): string => (typeof cell === 'number' ? formatNumber(cell) : cell);

/** Whole numbers as they are, others with about three digits. */
export const formatNumber = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

/** `200 7×, 503 2×` */
export function inList(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => `${value} ${count}×`).join(', ') || 'none';
}
