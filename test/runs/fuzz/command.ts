import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';
import type { Environment } from '../../../lib/environment';
import { environments } from '../../../lib/environments';
import { Cleanup } from '../../../local/cleanup';
import { startEnvironments } from '../environments';
import { longRun } from '../harness/command';
import { newSeed, wholeNumberFrom } from '../harness/options';
import { type FoundCase, holdRequests, RequestsFailed } from './hold-requests';

const foundCasesFile = join(__dirname, 'found-cases.json');

void longRun<{ runs: number; seed: number; environment: string }>({
  name: 'fuzz',
  description: 'Sends generated requests to a local environment and holds every answer against the contract.',
  declare: (command) =>
    command
      .option('--runs <number>', 'requests to send', wholeNumberFrom(1), 20_000)
      .option('--seed <number>', 'begin where another run did', wholeNumberFrom(-(2 ** 31)), newSeed())
      .addOption(
        new Option('--environment <name>', 'where to')
          .choices(environments.map(({ name }) => name))
          .default(environments[0]?.name),
      ),
  async run({ runs, seed, environment }, { signal, progress }) {
    const row = environments.find(({ name }) => name === environment) as Environment;
    const repeat = `npm run fuzz -- --seed ${seed} --runs ${runs}`;
    progress(`Seed ${seed}: ${runs} requests to ${environment}. Repeat with: ${repeat}`);
    const cleanup = new Cleanup();
    try {
      const { local } = await startEnvironments(cleanup, [environment], signal);
      const findings = await holdRequests(local, row, {
        requests: runs,
        seed,
        onProgress: (sent) => sent % 1_000 === 0 && progress(`${sent} of ${runs} requests held`),
      });
      return { report: JSON.stringify(findings), failed: false };
    } catch (error) {
      // A request that met no environment any more is no case to keep.
      if (signal.aborted || !(error instanceof RequestsFailed)) throw error;
      keep(error.found);
      progress(`${error.message}\nThe case is kept in ${foundCasesFile}: npm test holds it from now on.`);
      return { report: '', failed: true };
    } finally {
      await cleanup.run();
    }
  },
});

function keep(found: FoundCase): void {
  const cases = JSON.parse(readFileSync(foundCasesFile, 'utf8')) as FoundCase[];
  writeFileSync(foundCasesFile, `${JSON.stringify([...cases, found], null, 2)}\n`);
}
