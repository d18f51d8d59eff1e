import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { duration } from '../../../cli/shell/options';
import { longRun } from '../long-run';
import type { ReceiverKind } from './receivers';
import { drawWorld, tellStory } from './stories';
import { runWorld } from './world';

const whole = (text: string) => {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
};

const command = new Command('npm run simulate --')
  .description(
    'Runs the handlers that fan out and deliver events in simulated worlds, with faults, and checks the promises to receivers at each step.',
  )
  .option('--seed <number>', 'the seed of one world (default: a new one, and those after it)', whole)
  .option('--days <number>', 'days with faults; until all is delivered or given up, more follow', whole, 1)
  .option(
    '--organizations <number>',
    'organizations, with 50 events a day each (default: drawn by the seed)',
    whole,
  )
  .addOption(
    duration('--duration <duration>', 'time for worlds; one begins before it is over', {
      usual: '1m',
      most: '6h',
    }),
  );

interface Options {
  readonly seed?: number;
  readonly days: number;
  readonly organizations?: number;
  readonly duration: number;
}

/** Nine of ten receivers answer. */
const tenthDown: readonly ReceiverKind[] = [...Array(9).fill('fast'), 503];

void longRun<Options>(
  command,
  async ({ seed: given, days, organizations, duration: seconds }, { signal, progress }) => {
    const first = given ?? randomInt(1, 2 ** 31);
    const began = Date.now();
    const totals = { worlds: 0, events: 0, deliveries: 0, requests: 0, faults: 0 };
    for (let seed = first; seed === first || Date.now() < began + seconds * 1_000; seed++) {
      const options = drawWorld(seed, {
        days,
        ...(organizations && { organizations, webhooks: 1, eventsPerDay: 50, receivers: tenthDown }),
      });
      progress(`--seed ${seed} ${JSON.stringify(options)}`);
      const outcome = await runWorld(options);
      totals.worlds++;
      totals.events += outcome.events.length;
      for (const what of ['deliveries', 'requests'] as const) totals[what] += outcome[what];
      totals.faults += outcome.faults.length;
      if (outcome.violations.length > 0) {
        const story = await tellStory(options, outcome);
        const told = [...story.history, '', ...story.violations.map(({ text }) => text)];
        return {
          report: [...told, '', `Violated with --seed ${seed} --days ${days}`].join('\n'),
          failed: true,
        };
      }
      if (given !== undefined || signal.aborted) break;
    }
    const counts = Object.entries(totals).map(([what, count]) => `${count} ${what}`);
    return {
      report: `${counts.join(', ')}: 0 violations, ${Math.round((Date.now() - began) / 1_000)} s`,
      failed: false,
    };
  },
);
