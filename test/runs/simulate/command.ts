import { randomInt } from 'node:crypto';
import { Command } from 'commander';
import { number } from '../../../cli/shell/options';
import { longRun } from '../long-run';
import { drawWorld } from './draw-world';
import { runWorld } from './world';

/** Of at most nine digits, which `number` reads. */
const lastSeed = 999_999_999;

const command = new Command('npm run simulate --')
  .description(
    'Runs the handlers that fan out and deliver events in simulated worlds, with faults, and checks the promises to receivers at each step.',
  )
  .option(
    '--seed <number>',
    'the seed of one world (default: a new one, and those after it)',
    number(1, lastSeed),
  )
  .option('--duration <seconds>', 'time for worlds; one begins before it is over', number(1, 21_600), 60);

void longRun<{ seed?: number; duration: number }>(
  command,
  async ({ seed: given, duration: seconds }, { signal, progress }) => {
    const first = given ?? randomInt(1, lastSeed);
    const end = Date.now() + seconds * 1_000;
    let requests = 0;
    let seed = first;
    do {
      const options = drawWorld(seed);
      progress(`--seed ${seed} ${JSON.stringify(options)}`);
      const { violations, history, requests: made } = await runWorld(options);
      requests += made;
      const [violation] = violations;
      if (violation) {
        const story = history.filter((line) => violation.ids.some((id) => line.includes(id)));
        const report = [...story, '', violation.text, '', `Violated with --seed ${seed}`].join('\n');
        return { report, failed: true };
      }
      seed++;
    } while (given === undefined && !signal.aborted && Date.now() < end);
    return { report: `${seed - first} worlds, ${requests} requests: 0 violations`, failed: false };
  },
);
