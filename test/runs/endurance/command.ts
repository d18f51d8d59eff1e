import { duration } from '../../../cli/options';
import { environments } from '../../../lib/environments';
import { oneOfEachAccess } from '../../support/rows';
import { formatTable, longRun, newSeed, numberFrom, oneOrMoreOf } from '../long-run';
import { faults } from './faults';
import { endure, faultNames, grace } from './run';

interface Options {
  /** Seconds. */
  readonly duration: number;
  readonly seed: number;
  readonly rate: number;
  readonly eventRate: number;
  readonly slow: number;
  readonly check?: boolean;
  readonly environment?: readonly string[];
  readonly fault?: readonly string[];
}

const usual = oneOfEachAccess.map(({ name }) => name);
/** Milliseconds from an event to a healthy receiver beside slow ones. */
const goal = { median: 100, worst: 1_500 };

void longRun<Options>({
  name: 'endurance',
  description:
    'Sends deletions and events to local environments, half of the time with injected faults, and checks every response, group, user action and delivery, and memory.',
  declare: (command) =>
    command
      .addOption(duration('--duration <duration>', 'length of the run', { usual: '10m', most: '1d' }))
      .option('--rate <number>', 'deletions a second in each environment', numberFrom(1), 5)
      .option('--event-rate <number>', 'events a second in each environment', numberFrom(0.1), 2)
      .option(
        '--slow <number>',
        'number of webhooks of another organization whose receiver responds after 14 s, without faults',
        numberFrom(0, { whole: true }),
        1,
      )
      .option(
        '--check',
        `send no bursts, and fail also when an event takes more than ${goal.worst} ms to a healthy receiver, or ${goal.median} ms in the median, from ${grace / 1_000} s on`,
      )
      .option('--seed <number>', 'repeat the faults of another run', numberFrom(0), newSeed())
      .option(
        '--environment <name>',
        `only this one (repeatable; default: ${usual.join(', ')})`,
        oneOrMoreOf(environments.map(({ name }) => name)),
      )
      .option(
        '--fault <name>',
        `only this one (repeatable): ${faultNames.join(', ')}`,
        oneOrMoreOf(faultNames),
      ),
  async run(options, harness) {
    const { duration, seed, environment = usual, fault = faultNames, check, ...rates } = options;
    harness.progress(`Seed ${seed}, ${duration} s in ${environment.join(', ')}`);
    const seen = await endure({
      environments: environments.filter(({ name }) => environment.includes(name)),
      faults: faults.filter(({ name }) => fault.includes(name)),
      duration: duration * 1_000,
      ...{ seed, ...rates, ...harness, bursts: check !== true },
    });
    const isLate = seen.latencies.some(
      (row) => Number(row['delay, median, ms']) > goal.median || Number(row['worst, ms']) > goal.worst,
    );
    const tables = [seen.latencies, seen.memory, seen.faults].map(formatTable).filter(Boolean);
    return {
      report: [...tables, seen.checks.format(), `seed ${seed}`].join('\n\n'),
      failed: seen.checks.violations.length > 0 || (check === true && isLate),
    };
  },
});
