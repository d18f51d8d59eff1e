import { columns } from '../../../lib/operations/terminal';
import { type Check, formatChecks } from '../harness/checks';
import { groupBy } from '../harness/group-by';
import type { Attempt } from './attempt';
import { slowest, troubles } from './made-fault';
import { recoveryLimits } from './recovery';
import type { Course } from './run';

type Counts = Readonly<Record<string, number>>;

export interface Report {
  readonly seed: number;
  readonly faults: Readonly<Record<string, FaultSummary>>;
  readonly notMade: Readonly<Record<string, string>>;
  readonly checks: readonly Check[];
  /** Answers by status, `none` for those that did not come. */
  readonly answers: Counts;
  readonly deliveries: number;
  readonly deadLetters: number;
}

interface FaultSummary {
  readonly times: number;
  /** Answers by status to requests that it may have troubled. */
  readonly answers: Counts;
  /** Seconds after its end. */
  readonly slowestRecovery: { readonly deletions: number; readonly deliveries: number };
}

export function report({ checks, faults, notMade, places, deadLetters }: Course, seed: number): Report {
  const attempts = places.flatMap(({ deletions }) => deletions.attempts);
  const summaries = [...groupBy(faults, ({ kind }) => kind.name)].map(([name, made]) => {
    const troubled = attempts.filter((attempt) => made.some((fault) => troubles(fault, attempt)));
    const recovery = (what: 'deletions' | 'deliveries') =>
      Math.max(...made.map((fault) => slowest(fault, what)));
    const summary: FaultSummary = {
      times: made.length,
      answers: byStatus(troubled),
      slowestRecovery: { deletions: recovery('deletions'), deliveries: recovery('deliveries') },
    };
    return [name, summary] as const;
  });
  return {
    seed,
    faults: Object.fromEntries(summaries),
    notMade: Object.fromEntries([...notMade].map(([kind, reason]) => [kind.name, reason])),
    checks: checks.all,
    answers: byStatus(attempts),
    deliveries: places.reduce((sum, { events }) => sum + events.deliveries, 0),
    deadLetters,
  };
}

function byStatus(attempts: readonly Attempt[]): Counts {
  const counts: Record<string, number> = {};
  for (const { answer = 'none' } of attempts) {
    const status = answer.split(' ')[0] ?? '';
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

export function inTable({ seed, faults, notMade, checks, ...report }: Report): string {
  const rows = Object.entries(faults).map(([name, { times, answers, slowestRecovery }]) => [
    ...[name, String(times), inList(answers)],
    `${slowestRecovery.deletions.toFixed(1)} s`,
    `${slowestRecovery.deliveries.toFixed(1)} s`,
  ]);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const times = sum(Object.values(faults).map((fault) => fault.times));
  const held = sum(checks.map((check) => check.times ?? 1));
  const violated = sum(checks.map(({ violations }) => violations.length));
  const { deletions, deliveries, deliveriesWithReadersLost } = recoveryLimits;
  return [
    ...columns([
      ['fault', 'times', 'answers to troubled requests', 'deletions again', 'deliveries again'],
      ...rows,
    ]),
    ...Object.entries(notMade).map(([name, why]) => `${name}: not made, ${why}`),
    '',
    ...formatChecks(checks),
    '',
    `answers: ${inList(report.answers)}; deliveries: ${report.deliveries}, dead letters: ${report.deadLetters}`,
    `limits: deletions again within ${deletions / 1_000} s, deliveries within ${deliveries / 1_000} s of a fault's end (queues-reset: ${deliveriesWithReadersLost / 1_000} s)`,
    `${times} faults, ${held} checks, ${violated} violations, seed ${seed}`,
  ].join('\n');
}

const inList = (counts: Counts): string =>
  Object.entries(counts)
    .map(([status, count]) => `${status} ${count}×`)
    .join(', ') || 'none';
