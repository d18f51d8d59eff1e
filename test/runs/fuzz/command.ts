import { Option } from 'commander';
import type { Environment } from '../../../lib/environment';
import { environments } from '../../../lib/environments';
import { Cleanup } from '../../../local/cleanup';
import { startEnvironments } from '../environments';
import { longRun, newSeed, numberFrom } from '../long-run';
import { checkRequests } from './check-requests';

const whole = { whole: true };

void longRun<{ runs: number; seed: number; environment: string }>({
  name: 'fuzz',
  description:
    'Sends generated requests to a local environment and checks every response against the contract.',
  declare: (command) =>
    command
      .option('--runs <number>', 'requests to send', numberFrom(1, whole), 20_000)
      .option('--seed <number>', 'repeat another run', numberFrom(-(2 ** 31), whole), newSeed())
      .addOption(
        new Option('--environment <name>', 'the environment')
          .choices(environments.map(({ name }) => name))
          .default(environments[0]?.name),
      ),
  async run({ runs, seed, environment }, { signal, progress }) {
    progress(
      `${runs} requests to ${environment}. Repeat with: npm run fuzz -- --seed ${seed} --runs ${runs}`,
    );
    const row = environments.find(({ name }) => name === environment) as Environment;
    const cleanup = new Cleanup();
    try {
      const { local } = await startEnvironments(cleanup, [environment], signal);
      const statuses = await checkRequests(local, row, {
        ...{ requests: runs, seed },
        progress: (sent) => sent % 1_000 === 0 && progress(`${sent} of ${runs} requests checked`),
      });
      return { report: JSON.stringify({ seed, statuses }), failed: false };
    } finally {
      await cleanup.run();
    }
  },
});
