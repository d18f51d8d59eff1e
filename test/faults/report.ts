import { columns } from '../../lib/operations/terminal';
import { troubles } from './checks';
import { checkNames, type MadeFault } from './findings';
import { recoveryLimits } from './recovery';
import type { Course } from './run';
import type { Attempt } from './traffic/attempt';

export interface Report {
  readonly seed: number;
  readonly faults: Readonly<Record<string, FaultSummary>>;
  readonly notMade: Readonly<Record<string, string>>;
  readonly checks: Readonly<Record<string, number>>;
  /** Answers by status, `none` for those that did not come. */
  readonly answers: Readonly<Record<string, number>>;
  readonly deliveries: number;
  readonly deadLetters: number;
  readonly violations: readonly string[];
}

interface FaultSummary {
  readonly times: number;
  /** Answers by status to requests that it may have troubled. */
  readonly answers: Readonly<Record<string, number>>;
  /** Seconds after its end. */
  readonly slowestRecovery: { readonly deletions: number; readonly deliveries: number };
}

export function report({ findings, faults, notMade, places, deadLetters }: Course, seed: number): Report {
  const attempts = places.flatMap(({ deletions }) => deletions.attempts);
  const kinds = [...new Set(faults.map(({ kind }) => kind))];
  return {
    seed,
    faults: Object.fromEntries(
      kinds.map((kind) => {
        const made = faults.filter((fault) => fault.kind === kind);
        return [kind.name, summarize(made, attempts)];
      }),
    ),
    notMade: Object.fromEntries([...notMade].map(([kind, reason]) => [kind.name, reason])),
    checks: Object.fromEntries(checkNames.map((name) => [name, findings.checks.get(name) ?? 0])),
    answers: byStatus(attempts),
    deliveries: places.reduce((sum, { events }) => sum + events.deliveries, 0),
    deadLetters,
    violations: findings.violations,
  };
}

function summarize(made: readonly MadeFault[], attempts: readonly Attempt[]): FaultSummary {
  const slowest = (times: (fault: MadeFault) => ReadonlyMap<string, number>) =>
    Math.max(...made.flatMap((fault) => [...times(fault).values()].map((at) => (at - fault.until) / 1_000)));
  return {
    times: made.length,
    answers: byStatus(attempts.filter((attempt) => made.some((fault) => troubles(fault, attempt)))),
    slowestRecovery: {
      deletions: slowest(({ deletionsRecovered }) => deletionsRecovered),
      deliveries: slowest(({ deliveriesRecovered }) => deliveriesRecovered),
    },
  };
}

function byStatus(attempts: readonly Attempt[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { answer = 'none' } of attempts) {
    const status = answer.split(' ')[0] ?? '';
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

export function inTable(report: Report): string {
  const faults = Object.entries(report.faults).map(([name, { times, answers, slowestRecovery }]) => [
    name,
    String(times),
    inList(answers),
    `${slowestRecovery.deletions.toFixed(1)} s`,
    `${slowestRecovery.deliveries.toFixed(1)} s`,
  ]);
  const notMade = Object.entries(report.notMade).map(([name, why]) => `  ${name}: not made, ${why}`);
  const total = Object.values(report.faults).reduce((sum, { times }) => sum + times, 0);
  const checks = Object.values(report.checks).reduce((sum, count) => sum + count, 0);
  const { deletions, deliveries, deliveriesWithReadersLost } = recoveryLimits;
  return [
    ...indented([
      ['fault', 'times', 'answers to troubled requests', 'deletions again', 'deliveries again'],
      ...faults,
    ]),
    ...notMade,
    '',
    ...indented(Object.entries(report.checks).map(([name, count]) => [name, String(count)])),
    '',
    `answers: ${inList(report.answers)}; deliveries: ${report.deliveries}, dead letters: ${report.deadLetters}`,
    `limits: deletions again within ${deletions / 1_000} s, deliveries within ${deliveries / 1_000} s of a fault's end (queues-reset: ${deliveriesWithReadersLost / 1_000} s)`,
    `${total} faults, ${checks} checks, ${report.violations.length} violations, seed ${report.seed}`,
    ...report.violations.slice(0, 50),
  ].join('\n');
}

const inList = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([status, count]) => `${status} ${count}×`)
    .join(', ') || 'none';

const indented = (rows: readonly (readonly string[])[]) => columns(rows).map((line) => `  ${line}`);
