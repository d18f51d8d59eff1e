import { Command } from 'commander';
import { number } from '../../../cli/shell/options';
import { oneOfEachAccess } from '../../support/rows';
import { startEnvironments } from '../environments';
import { longRun } from '../long-run';
import { checkRequests } from './check-requests';

const command = new Command('npm run fuzz --')
  .description(
    'Sends generated requests to local environments, one for each database access, and checks every response against the contract.',
  )
  .option('--runs <number>', 'requests to send to each environment', number(1, 1_000_000), 10_000)
  .option('--seed <number>', 'repeat a run that failed', Number);

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
