import { Cleanup } from '../../../local/cleanup';
import { oneOfEachAccess } from '../../support/rows';
import { startEnvironments } from '../environments';
import { longRun, newSeed, numberFrom } from '../long-run';
import { checkRequests } from './check-requests';

void longRun<{ runs: number; seed: number }>({
  name: 'fuzz',
  description:
    'Sends generated requests to local environments, one for each database access, and checks every response against the contract.',
  declare: (command) =>
    command
      .option('--runs <number>', 'requests to send to each environment', numberFrom(1), 10_000)
      .option('--seed <number>', 'repeat another run', numberFrom(-(2 ** 31)), newSeed()),
  async run({ runs, seed }, { signal, progress }) {
    const cleanup = new Cleanup();
    try {
      const names = oneOfEachAccess.map(({ name }) => name);
      const local = await startEnvironments(cleanup, names, { signal });
      const statuses: Record<string, object> = {};
      for (const environment of oneOfEachAccess) {
        progress(
          `${runs} requests to ${environment.name}. Repeat with: npm run fuzz -- --seed ${seed} --runs ${runs}`,
        );
        statuses[environment.name] = await checkRequests(local, environment, {
          ...{ requests: runs, seed },
          progress(sent) {
            signal.throwIfAborted();
            if (sent % 1_000 === 0 && sent > 0) progress(`${sent} requests sent`);
          },
        });
      }
      return { report: JSON.stringify({ seed, statuses }), failed: false };
    } finally {
      await cleanup.run();
    }
  },
});
