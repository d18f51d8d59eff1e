import { Command, InvalidArgumentError } from 'commander';
import { number } from '../../../cli/shell/options';
import { environments as table } from '../../../lib/environments';
import { provideAssembly } from '../../../local/assembly/cache';
import { startLocal } from '../../../local/start';
import { openState } from '../../../local/state/lock';
import { openLocalEnvironment } from '../../support/local-environment';
import { type Harness, longRun, temporaryFolder } from '../long-run';
import { checkRequests } from './check-requests';

const command = new Command('npm run fuzz --')
  .description(
    'Sends generated requests to local environments, one for each database access, and checks every response against the contract.',
  )
  .option('--runs <number>', 'requests to send to each environment', number(1, 1_000_000), 10_000)
  .option('--seed <number>', 'repeat a run that failed', (text) => {
    if (/^-?\d{1,10}$/.test(text)) return Number(text);
    throw new InvalidArgumentError('Give the seed that the failed run printed.');
  });

/** The operator's rows, the first for each database access. */
const oneOfEachAccess = table.filter(
  (row) => row === table.find(({ databaseAccess }) => databaseAccess === row.databaseAccess),
);

void longRun<{ runs: number; seed?: number }>(command, async ({ runs, ...seed }, harness) => {
  const local = await startEnvironments(harness);
  const statuses: Record<string, object> = {};
  for (const environment of oneOfEachAccess) {
    const { name } = environment;
    harness.progress(`${runs} requests to ${name}`);
    statuses[name] = await checkRequests(local, environment, runs, { ...seed, signal: harness.signal });
  }
  return { report: JSON.stringify(statuses), failed: false };
});

/** In a temporary folder and on free ports. */
async function startEnvironments({ signal, cleanup }: Harness) {
  const state = openState(await temporaryFolder(cleanup));
  cleanup.add(() => state.close());
  const { assemblyDirectory: assembly, directory } = state;
  await provideAssembly({ directory: assembly, signal });
  const environments = oneOfEachAccess.map(({ name }) => name);
  // Functions write their problems to the logs, too.
  const log = { step: () => undefined, problem: () => undefined };
  const ending = new AbortController();
  signal.addEventListener('abort', () => ending.abort(signal.reason));
  const local = await startLocal({ assembly, state, environments, log, ports: 'any', ending });
  cleanup.add(() => local.stop());
  return openLocalEnvironment(directory);
}
