import { groupBy } from '../harness/group-by';
import { inList, type Report } from '../harness/report';
import type { Attempt } from './attempt';
import { slowest, troubles } from './made-fault';
import { recoveryLimits } from './recovery';
import type { Course } from './run';

export function report({ checks, faults, notMade, places, deadLetters }: Course, seed: number): Report {
  const attempts = places.flatMap(({ deletions }) => deletions.attempts);
  const { deletions, deliveries, deliveriesWithReadersLost } = recoveryLimits;
  return {
    seed,
    tables: {
      faults: [...groupBy(faults, ({ kind }) => kind.name)].map(([fault, made]) => ({
        fault,
        times: made.length,
        'answers to troubled requests': statuses(
          attempts.filter((attempt) => made.some((each) => troubles(each, attempt))),
        ),
        'deletions again, s': Math.max(...made.map((each) => slowest(each, 'deletions'))),
        'deliveries again, s': Math.max(...made.map((each) => slowest(each, 'deliveries'))),
      })),
      notMade: [...notMade].map(([{ name }, reason]) => ({ 'not made': name, reason })),
    },
    facts: {
      faults: faults.length,
      checks: checks.all.reduce((sum, { times = 1 }) => sum + times, 0),
      violations: checks.violations.length,
      answers: statuses(attempts),
      deliveries: places.reduce((sum, { events }) => sum + events.deliveries, 0),
      'dead letters': deadLetters,
      'limit for deletions, s': deletions / 1_000,
      'limit for deliveries, s': deliveries / 1_000,
      'limit for deliveries after queues-reset, s': deliveriesWithReadersLost / 1_000,
    },
    checks: checks.all,
  };
}

const statuses = (attempts: readonly Attempt[]): string =>
  inList(attempts.map(({ answer = 'none' }) => answer.split(' ')[0] ?? ''));
