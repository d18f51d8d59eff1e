import { randomInt } from 'node:crypto';
import { Command } from 'commander';
import { number } from '../../../cli/shell/options';
import { longRun } from '../long-run';
import { drawWorld } from './options';
import { runWorld, tellStory } from './world';

/** Of at most nine digits, which `number` reads. */
const lastSeed = 999_999_999;

const command = new Command('npm run simulate --')
  .description('Runs the delivering handlers in worlds with faults: are the promises to receivers kept?')
  .option('--seed <number>', 'the seed of the first world (default: a new one)', number(1, lastSeed))
  .option('--duration <seconds>', 'time for worlds; one begins before it is over', number(1, 21_600), 60);

void longRun<{ seed?: number; duration: number }>(command, async (options, { signal, progress }) => {
  const { seed: first = randomInt(1, lastSeed), duration } = options;
  const end = Date.now() + duration * 1_000;
  const totals = { worlds: 0, events: 0, deliveries: 0, requests: 0, faults: 0 };
  for (let seed = first; seed === first || (Date.now() < end && !signal.aborted); seed++) {
    const world = drawWorld(seed);
    progress(`--seed ${seed} ${JSON.stringify(world)}`);
    const outcome = await runWorld(world);
    totals.worlds++;
    for (const what of ['events', 'faults'] as const) totals[what] += outcome[what].length;
    for (const what of ['deliveries', 'requests'] as const) totals[what] += outcome[what];
    if (outcome.violations.length > 0) {
      progress(`Violated: ${outcome.violations[0]}. Looks for its shortest story.`);
      const run = (only: ReadonlySet<string>) => {
        signal.throwIfAborted();
        return runWorld(world, only);
      };
      const { history, violations } = await tellStory(outcome, run);
      const report = [...history, '', ...violations, '', `Violated with --seed ${seed}`].join('\n');
      return { report, failed: true };
    }
  }
  const counts = Object.entries(totals).map(([what, count]) => `${count} ${what}`);
  return { report: `${counts.join(', ')}: 0 violations`, failed: false };
});
