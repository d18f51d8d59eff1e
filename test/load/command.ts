import { InvalidArgumentError } from 'commander';
import { environments } from '../../lib/environments';
import { runInterruptibly } from '../support/interruption';
import { longRun } from '../support/long-run';
import { numberFrom } from '../support/number-option';
import { inTable, report } from './report';
import { runLoad } from './run';

// What later versions of the SDK will ask of Node.js is no news here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

interface Options {
  readonly minutes: number;
  readonly rate: number;
  readonly seed: number;
  readonly environment?: readonly string[];
  readonly json?: true;
}

const names = environments.map(({ name }) => name);

function oneMoreEnvironment(name: string, earlier: readonly string[] = []): readonly string[] {
  if (!names.includes(name)) throw new InvalidArgumentError(`Choose of: ${names.join(', ')}.`);
  return [...earlier, name];
}

const options = longRun('load')
  .description(
    'Sends valid and invalid deletions to local environments, steadily and in bursts; checks every answer and the memory.',
  )
  .option(
    '--minutes <number>',
    'for how long, at least 3',
    numberFrom(3, 'in less, memory cannot be judged'),
    10,
  )
  .option('--rate <number>', 'requests a second to each environment, beside the bursts', numberFrom(1), 10)
  .option('--seed <number>', 'send the requests that another run sent', numberFrom(0), Date.now() % 2 ** 31)
  .option('--environment <name>', 'only this one (may be given again; default: eu, uae)', oneMoreEnvironment)
  .option('--json', 'print JSON')
  .parse()
  .opts<Options>();

async function run(
  { minutes, rate, seed, environment = ['eu', 'uae'], json }: Options,
  signal: AbortSignal,
): Promise<number> {
  console.error(`Seed ${seed}, ${minutes} minutes in ${environment.join(', ')}`);
  const course = await runLoad({
    environments: environments.filter(({ name }) => environment.includes(name)),
    minutes,
    rate,
    seed,
    signal,
    onProgress: (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`),
  });
  signal.throwIfAborted();
  const result = report(course, seed);
  console.log(json ? JSON.stringify(result) : inTable(result));
  return result.checks.every(({ violations }) => violations.length === 0) ? 0 : 1;
}

void runInterruptibly((signal) => run(options, signal));
