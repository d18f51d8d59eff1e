import { time } from '../../../cli/options';
import { environments } from '../../../lib/environments';
import { oneOfEachAccess } from '../../support/rows';
import { longRun } from '../harness/command';
import { newSeed, numberFrom, oneMoreOf } from '../harness/options';
import { outcome } from '../harness/report';
import { faultKinds } from './kinds';
import { report } from './report';
import { runFaults } from './run';

interface Options {
  /** Seconds. */
  readonly duration: number;
  readonly seed: number;
  readonly environment?: readonly string[];
  readonly fault?: readonly string[];
  readonly json?: true;
}

const usual = oneOfEachAccess.map(({ name }) => name);
const kindNames = faultKinds.map(({ name }) => name);

void longRun<Options>({
  name: 'faults',
  description: 'Troubles local environments while requests and events go on, and checks what must hold.',
  declare: (command) =>
    command
      .addOption(
        time('--duration <time>', 'for how long faults are made', {
          usual: '10m',
          atLeast: '0s',
          atMost: '1d',
        }),
      )
      .option('--seed <number>', 'choose the faults that another run chose', numberFrom(0), newSeed())
      .option(
        '--environment <name>',
        `only this one (may be given again; default: ${usual.join(', ')})`,
        oneMoreOf(environments.map(({ name }) => name)),
      )
      .option(
        '--fault <name>',
        `only this one (may be given again): ${kindNames.join(', ')}`,
        oneMoreOf(kindNames),
      )
      .option('--json', 'print JSON'),
  async run(options, { signal, progress }) {
    const { duration, seed, environment = usual, fault = kindNames, json } = options;
    progress(
      `Seed ${seed}, ${duration / 60} minutes in ${environment.join(', ')}, then until every event has arrived`,
    );
    const course = await runFaults({
      environments: environments.filter(({ name }) => environment.includes(name)),
      kinds: faultKinds.filter(({ name }) => fault.includes(name)),
      duration: duration * 1_000,
      ...{ seed, signal, progress },
    });
    return outcome(report(course, seed), json);
  },
});
