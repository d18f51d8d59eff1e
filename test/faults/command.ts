import { InvalidArgumentError } from 'commander';
import { environments } from '../../lib/environments';
import { runInterruptibly } from '../support/interruption';
import { longRun } from '../support/long-run';
import { numberFrom } from '../support/number-option';
import { faultKinds } from './kinds';
import { inTable, report } from './report';
import { runFaults } from './run';

// What later versions of the SDK will ask of Node.js is no news here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly environment?: readonly string[];
  readonly fault?: readonly string[];
  readonly json?: true;
}

const oneMoreOf =
  (known: readonly string[]) =>
  (name: string, earlier: readonly string[] = []): readonly string[] => {
    if (!known.includes(name)) throw new InvalidArgumentError(`Choose of: ${known.join(', ')}.`);
    return [...earlier, name];
  };
const environmentNames = environments.map(({ name }) => name);
const kindNames = faultKinds.map(({ name }) => name);

const options = longRun('faults')
  .description('Troubles local environments while requests and events go on, and checks what must hold.')
  .option('--minutes <number>', 'for how long faults are made', numberFrom(0), 10)
  .option('--seed <number>', 'choose the faults that another run chose', numberFrom(0), Date.now() % 2 ** 31)
  .option(
    '--environment <name>',
    'only this one (may be given again; default: eu, uae)',
    oneMoreOf(environmentNames),
  )
  .option(
    '--fault <name>',
    `only this one (may be given again): ${kindNames.join(', ')}`,
    oneMoreOf(kindNames),
  )
  .option('--json', 'print JSON')
  .parse()
  .opts<Options>();

async function run(
  { minutes, seed, environment = ['eu', 'uae'], fault = kindNames, json }: Options,
  signal: AbortSignal,
): Promise<number> {
  console.error(
    `Seed ${seed}, ${minutes} minutes in ${environment.join(', ')}, then until every event has arrived`,
  );
  const course = await runFaults({
    environments: environments.filter(({ name }) => environment.includes(name)),
    kinds: faultKinds.filter(({ name }) => fault.includes(name)),
    duration: minutes * 60_000,
    seed,
    signal,
    onProgress: (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`),
  });
  signal.throwIfAborted();
  const result = report(course, seed);
  console.log(json ? JSON.stringify(result) : inTable(result));
  return result.violations.length === 0 ? 0 : 1;
}

void runInterruptibly((signal) => run(options, signal));
