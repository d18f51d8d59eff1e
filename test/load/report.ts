import { columns } from '../../lib/operations/terminal';
import { median, percentile } from '../support/statistics';
import {
  type Check,
  checkAnswers,
  checkGroups,
  checkMemory,
  checkShapes,
  inWords,
  isThrottled,
} from './checks';
import { growthOf, type MemoryCourse } from './memory';
import type { Course, Part, PartName } from './run';

/** Milliseconds, of the requests of one class that were not throttled. */
export interface Latencies {
  readonly environment: string;
  readonly part: PartName;
  readonly requests: 'deletions' | 'refusals';
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export interface Report {
  readonly seed: number;
  readonly latencies: readonly Latencies[];
  /** Answers a second while a burst lasts, by environment. */
  readonly burstRates: Readonly<Record<string, number>>;
  /** Answers by status and code. */
  readonly answers: Readonly<Record<string, number>>;
  readonly memory: readonly MemoryLine[];
  readonly checks: readonly Check[];
}

interface MemoryLine {
  readonly name: string;
  readonly processes: number;
  /** MiB of the process that has most after garbage collection, in the middle and at the end: held, and all that it has. */
  readonly heldBefore: number;
  readonly heldAfter: number;
  readonly residentBefore: number;
  readonly residentAfter: number;
}

export function report({ parts, states, memory }: Course, seed: number): Report {
  const of = (wanted: PartName) =>
    parts.filter(({ name }) => name === wanted).flatMap(({ answers }) => answers);
  const all = parts.flatMap(({ answers }) => answers);
  const counts: Record<string, number> = {};
  for (const answered of all) counts[inWords(answered)] = (counts[inWords(answered)] ?? 0) + 1;
  return {
    seed,
    latencies: latencies(parts),
    burstRates: burstRates(parts),
    answers: counts,
    memory: memoryLines(memory),
    checks: [
      checkAnswers(of('steady'), 'steady'),
      checkAnswers(of('burst'), 'burst'),
      checkShapes(all),
      checkGroups(all, states),
      checkMemory(memory),
    ],
  };
}

function latencies(parts: readonly Part[]): Latencies[] {
  const environments = [...new Set(parts.map(({ environment }) => environment))];
  return environments.flatMap((environment) =>
    (['steady', 'burst'] as const).flatMap((part) =>
      (['deletions', 'refusals'] as const).flatMap((requests) => {
        const times = parts
          .filter((each) => each.environment === environment && each.name === part)
          .flatMap(({ answers }) => answers)
          .filter((answered) => !isThrottled(answered))
          .filter(({ request }) => (request.kind === 'deletion') === (requests === 'deletions'))
          .flatMap(({ answer }) => (answer ? [answer.milliseconds] : []));
        if (times.length === 0) return [];
        const [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1].map((share) => percentile(times, share)) as [
          number,
          number,
          number,
          number,
        ];
        return [{ environment, part, requests, count: times.length, p50, p90, p99, max }];
      }),
    ),
  );
}

/** Medians over the bursts. */
function burstRates(parts: readonly Part[]): Record<string, number> {
  const rates: Record<string, number[]> = {};
  for (const { environment, answers, duration } of parts.filter(({ name }) => name === 'burst')) {
    rates[environment] = [...(rates[environment] ?? []), (answers.length * 1_000) / duration];
  }
  return Object.fromEntries(Object.entries(rates).map(([name, all]) => [name, median(all)]));
}

const mebibytes = (bytes: number) => bytes / 2 ** 20;

/** Of the processes that lived long enough to be judged. */
function memoryLines(courses: readonly MemoryCourse[]): MemoryLine[] {
  const judged = courses.flatMap((course) => {
    const growth = growthOf(course);
    return growth ? [{ ...course, growth }] : [];
  });
  return [...new Set(judged.map(({ name }) => name))].map((name) => {
    const own = judged.filter((course) => course.name === name);
    const largest = own.reduce((most, each) =>
      each.growth.held.after > most.growth.held.after ? each : most,
    );
    const { held, resident } = largest.growth;
    return {
      name,
      processes: own.length,
      heldBefore: mebibytes(held.before),
      heldAfter: mebibytes(held.after),
      residentBefore: mebibytes(resident.before),
      residentAfter: mebibytes(resident.after),
    };
  });
}

export function inTable({ seed, latencies, burstRates, answers, memory, checks }: Report): string {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const mib = (value: number) => `${value.toFixed(1)} MiB`;
  return [
    ...columns([
      ['environment', 'part', 'requests', 'number', 'p50', 'p90', 'p99', 'longest'],
      ...latencies.map(({ environment, part, requests, count, p50, p90, p99, max }) => [
        environment,
        part,
        requests,
        String(count),
        ...[p50, p90, p99, max].map(ms),
      ]),
    ]),
    '',
    ...Object.entries(burstRates).map(
      ([name, rate]) => `bursts of ${name}: ${rate.toFixed(0)} answers a second`,
    ),
    '',
    ...columns(Object.entries(answers).map(([answer, count]) => [answer, String(count)])),
    '',
    ...columns([
      ['process', 'number', 'held, middle', 'held, end', 'resident, middle', 'resident, end'],
      ...memory.map(({ name, processes, heldBefore, heldAfter, residentBefore, residentAfter }) => [
        name,
        String(processes),
        ...[heldBefore, heldAfter, residentBefore, residentAfter].map(mib),
      ]),
    ]),
    '',
    ...checks.flatMap(({ name, times, violations }) => [
      `${violations.length === 0 ? 'holds ' : 'BROKEN'}  ${name} (${times})`,
      ...violations.slice(0, 10).map((violation) => `          ${violation}`),
      ...(violations.length > 10 ? [`          and ${violations.length - 10} more`] : []),
    ]),
    '',
    `seed ${seed}`,
  ].join('\n');
}
