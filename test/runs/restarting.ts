import { setTimeout as sleep } from 'node:timers/promises';
import { provideAssembly } from '../../local/assembly/assembly-cache';
import { startLocal } from '../../local/start';
import { openState } from '../../local/state';
import { isRunning } from '../support/local-command';

/** `npm start` exits with its PostgreSQL. Here PostgreSQL is restarted until that succeeds, so that the run survives faults. */
async function main(directory: string, environments: readonly string[]): Promise<void> {
  let ended = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => (ended = true));
  const state = openState(directory);
  const { assemblyDirectory: assembly } = state;
  await provideAssembly({ directory: assembly, signal: new AbortController().signal });
  const log = { step: console.error, problem: console.error };
  const local = await startLocal({ assembly, state, ports: 'any', environments, log });
  console.log('Ctrl-C stops everything');
  while (!ended) {
    for (const postgres of Object.values(local.postgres)) {
      if (!isRunning(postgres.pid)) await postgres.restart().catch(({ message }) => log.problem(message));
    }
    await sleep(200);
  }
  await local.stop();
  state.close();
}

const [, , directory = '', ...environments] = process.argv;
void main(directory, environments);
