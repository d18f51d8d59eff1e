import { groupBy } from '../harness/group-by';
import type { Report } from '../harness/report';
import { median, percentile } from '../harness/statistics';
import { checkAnswers, checkGroups, checkMemory, checkShapes, inWords, isThrottled } from './checks';
import { judge, type MemoryCourse } from './memory';
import type { Course, Part } from './run';

export function report({ parts, states, memory }: Course, seed: number): Report {
  const all = answersOf(parts);
  const steady = parts.filter(({ name }) => name === 'steady');
  const bursts = parts.filter(({ name }) => name === 'burst');
  const rate = ({ answers, duration }: Part) => (answers.length * 1_000) / duration;
  return {
    seed,
    tables: {
      latencies: [...groupBy(parts, ({ environment, name }) => `${environment}, ${name}`)].flatMap(
        ([part, own]) => latencies(part, own),
      ),
      bursts: [...groupBy(bursts, ({ environment }) => environment)].map(([environment, own]) => ({
        'bursts of': environment,
        'answers a second': median(own.map(rate)),
      })),
      answers: [...groupBy(all, inWords)].map(([answer, { length: times }]) => ({ answer, times })),
      memory: memoryRows(memory),
    },
    checks: [
      checkAnswers(answersOf(steady), 'steady'),
      checkAnswers(answersOf(bursts), 'burst'),
      checkShapes(all),
      checkGroups(all, states),
      checkMemory(memory),
    ],
  };
}

const answersOf = (parts: readonly Part[]) => parts.flatMap(({ answers }) => answers);

/** Milliseconds of the requests that were not throttled. */
function latencies(part: string, parts: readonly Part[]) {
  const answered = answersOf(parts).filter((each) => !isThrottled(each));
  const byClass = groupBy(answered, ({ request }) => (request.expected === '200' ? 'deletions' : 'refusals'));
  return [...byClass].map(([requests, own]) => {
    const times = own.flatMap(({ answer }) => answer?.milliseconds ?? []);
    const at = (share: number) => (times.length > 0 ? percentile(times, share) : Number.NaN);
    return {
      part,
      requests,
      number: times.length,
      ...{ 'p50, ms': at(0.5), 'p90, ms': at(0.9), 'p99, ms': at(0.99), 'longest, ms': at(1) },
    };
  });
}

/** Of each function, the process that holds most at the end. MiB. */
const memoryRows = (courses: readonly MemoryCourse[]) =>
  [...groupBy(judge(courses), ({ name }) => name)].map(([process, own]) => {
    const { held, resident } = own.reduce((most, each) => (each.held.after > most.held.after ? each : most));
    return {
      process,
      number: own.length,
      'held, middle, MiB': held.before / 2 ** 20,
      'held, end, MiB': held.after / 2 ** 20,
      'resident, middle, MiB': resident.before / 2 ** 20,
      'resident, end, MiB': resident.after / 2 ** 20,
    };
  });
