import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { environments } from '../../lib/environments';
import { removePostgres } from '../../local/postgres/postgres';
import { stateFolder } from '../../local/state/state';
import { started } from './start-local-environment';

/** Stops what `start-local-environment.ts` started, and removes its data. */
export default async function stopLocalEnvironment(): Promise<void> {
  const { process: running, directory } = started;
  if (!running || !directory) return;
  if (running.exitCode === null && running.signalCode === null) {
    running.kill('SIGTERM');
    await once(running, 'exit');
  }
  for (const environment of environments) {
    await removePostgres(stateFolder(directory).environment(environment).databaseDirectory);
  }
  rmSync(directory, { recursive: true, force: true });
}
