import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';
import type { Environment } from '../../lib/environment/environment';
import { environments } from '../../lib/environments';
import { type FoundCase, holdRequests, RequestsFailed } from '../support/hold-requests';
import { runInterruptibly } from '../support/interruption';
import { longRun } from '../support/long-run';
import { wholeNumberFrom } from '../support/number-option';
import { startTemporaryEnvironments } from '../support/temporary-environments';

// What later versions of the SDK will ask of Node.js is no news here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const foundCasesFile = join(__dirname, 'found-cases.json');

const names = environments.map(({ name }) => name);

const { runs, seed, environment } = longRun('fuzz')
  .description('Sends generated requests to a local environment and holds every answer against the contract.')
  .option('--runs <number>', 'requests to send', wholeNumberFrom(1), 20_000)
  .option('--seed <number>', 'begin where another run did', wholeNumberFrom(-(2 ** 31)), Date.now() % 2 ** 31)
  .addOption(new Option('--environment <name>', 'where to').choices(names).default('eu'))
  .parse()
  .opts<{ runs: number; seed: number; environment: string }>();

async function run(signal: AbortSignal): Promise<number> {
  const row = environments.find(({ name }) => name === environment) as Environment;
  console.error(
    `Seed ${seed}: ${runs} requests to ${environment}. Repeat with: npm run fuzz -- --seed ${seed} --runs ${runs}`,
  );
  const { local, stop } = await startTemporaryEnvironments([environment], signal);
  try {
    const findings = await holdRequests(local, row, {
      requests: runs,
      seed,
      onProgress: (sent) => sent % 1_000 === 0 && console.error(`${sent} of ${runs} requests held`),
    });
    console.log(JSON.stringify(findings));
    return 0;
  } catch (error) {
    // A request that found nobody any more is no case to keep.
    if (signal.aborted || !(error instanceof RequestsFailed)) throw error;
    keep(error.found);
    console.error(`${error.message}\nThe case is kept in ${foundCasesFile}: npm test holds it from now on.`);
    return 1;
  } finally {
    await stop();
  }
}

function keep(found: FoundCase): void {
  const cases = JSON.parse(readFileSync(foundCasesFile, 'utf8')) as FoundCase[];
  writeFileSync(foundCasesFile, `${JSON.stringify([...cases, found], null, 2)}\n`);
}

void runInterruptibly(run);
