import { columns } from '../../../lib/operations/terminal';
import { type Check, formatChecks } from '../harness/checks';
import { groupBy } from '../harness/group-by';
import { median, percentile } from '../harness/statistics';
import { checkAnswers, checkGroups, checkMemory, checkShapes, inWords, isThrottled } from './checks';
import { type JudgedProcess, judge, type MemoryCourse } from './memory';
import type { Course, Part, PartName } from './run';

/** Milliseconds of the requests of one class that were not throttled. */
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
  /** Answers a second while a burst lasts: medians over the bursts, by environment. */
  readonly burstRates: Readonly<Record<string, number>>;
  /** Answers by status and code. */
  readonly answers: Readonly<Record<string, number>>;
  /** Of each function, the process that holds most at the end. Bytes. */
  readonly memory: readonly (JudgedProcess & { readonly processes: number })[];
  readonly checks: readonly Check[];
}

export function report({ parts, states, memory }: Course, seed: number): Report {
  const all = answersOf(parts);
  const environments = [...new Set(parts.map(({ environment }) => environment))];
  const of = (name: PartName, environment?: string) =>
    parts.filter((part) => part.name === name && (environment ?? part.environment) === part.environment);
  const counts: Record<string, number> = {};
  for (const answered of all) counts[inWords(answered)] = (counts[inWords(answered)] ?? 0) + 1;
  const rate = ({ answers, duration }: Part) => (answers.length * 1_000) / duration;
  return {
    seed,
    latencies: environments.flatMap((environment) =>
      (['steady', 'burst'] as const).flatMap((part) =>
        latencies(of(part, environment)).map((each) => ({ environment, part, ...each })),
      ),
    ),
    burstRates: Object.fromEntries(environments.map((name) => [name, median(of('burst', name).map(rate))])),
    answers: counts,
    memory: largestProcesses(memory),
    checks: [
      checkAnswers(answersOf(of('steady')), 'steady'),
      checkAnswers(answersOf(of('burst')), 'burst'),
      checkShapes(all),
      checkGroups(all, states),
      checkMemory(memory),
    ],
  };
}

const answersOf = (parts: readonly Part[]) => parts.flatMap(({ answers }) => answers);

function latencies(parts: readonly Part[]): Omit<Latencies, 'environment' | 'part'>[] {
  const answered = answersOf(parts).filter((each) => !isThrottled(each));
  return (['deletions', 'refusals'] as const).flatMap((requests) => {
    const times = answered
      .filter(({ request }) => (request.expected === '200') === (requests === 'deletions'))
      .flatMap(({ answer }) => answer?.milliseconds ?? []);
    if (times.length === 0) return [];
    const at = (share: number) => percentile(times, share);
    return [{ requests, count: times.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) }];
  });
}

function largestProcesses(courses: readonly MemoryCourse[]): Report['memory'] {
  return [...groupBy(judge(courses), ({ name }) => name).values()].flatMap((processes) => {
    const [largest] = processes.sort((one, other) => other.held.after - one.held.after);
    return largest ? [{ ...largest, processes: processes.length }] : [];
  });
}

export function inTable({ seed, latencies, burstRates, answers, memory, checks }: Report): string {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  return [
    ...columns([
      ['environment', 'part', 'requests', 'number', 'p50', 'p90', 'p99', 'longest'],
      ...latencies.map(({ environment, part, requests, count, p50, p90, p99, max }) => [
        ...[environment, part, requests, String(count)],
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
      ...memory.map(({ name, processes, held, resident }) => [
        ...[name, String(processes)],
        ...[held.before, held.after, resident.before, resident.after].map(mebibytes),
      ]),
    ]),
    '',
    ...formatChecks(checks),
    '',
    `seed ${seed}`,
  ].join('\n');
}
