import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeData } from '../../local/command';
import { stateFolder } from '../../local/state';
import { started } from './start-local-environment';

/** Stops the environments of `start-local-environment.ts`, and removes their data. */
export default async function stopLocalEnvironment(): Promise<void> {
  const { process: running, directory } = started;
  if (!running || !directory) return;
  if (running.exitCode === null && running.signalCode === null) {
    running.kill('SIGTERM');
    await once(running, 'exit');
  }
  await removeData(stateFolder(directory));
  rmSync(dirname(directory), { recursive: true, force: true });
}
