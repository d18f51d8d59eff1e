import { time } from '../../../cli/options';
import { environments } from '../../../lib/environments';
import { oneOfEachAccess } from '../../support/rows';
import { longRun } from '../harness/command';
import { newSeed, numberFrom, oneMoreOf } from '../harness/options';
import { outcome } from '../harness/report';
import { report } from './report';
import { runLoad } from './run';

interface Options {
  /** Seconds. */
  readonly duration: number;
  readonly rate: number;
  readonly seed: number;
  readonly environment?: readonly string[];
  readonly json?: true;
}

const usual = oneOfEachAccess.map(({ name }) => name);

void longRun<Options>({
  name: 'load',
  description:
    'Sends valid and invalid deletions to local environments, steadily and in bursts; checks every answer and the memory.',
  declare: (command) =>
    command
      // In less than three minutes, memory cannot be judged.
      .addOption(time('--duration <time>', 'for how long', { usual: '10m', atLeast: '3m', atMost: '1d' }))
      .option(
        '--rate <number>',
        'requests a second to each environment, beside the bursts',
        numberFrom(1),
        10,
      )
      .option('--seed <number>', 'send the requests that another run sent', numberFrom(0), newSeed())
      .option(
        '--environment <name>',
        `only this one (may be given again; default: ${usual.join(', ')})`,
        oneMoreOf(environments.map(({ name }) => name)),
      )
      .option('--json', 'print JSON'),
  async run({ duration, rate, seed, environment = usual, json }, { signal, progress }) {
    const minutes = duration / 60;
    progress(`Seed ${seed}, ${minutes} minutes in ${environment.join(', ')}`);
    const course = await runLoad({
      environments: environments.filter(({ name }) => environment.includes(name)),
      ...{ minutes, rate, seed, signal, progress },
    });
    return outcome(report(course, seed), json);
  },
});
