import { once } from 'node:events';
import { removeData } from '../../local/command';
import { stateFolder } from '../../local/state';
import { removeSharedFolder } from './share-folder';
import { started } from './start-local-environment';

/** Stops what `share-folder.ts` and `start-local-environment.ts` started, and removes all files. */
export default async function tearDown(): Promise<void> {
  const { process: environments, directory } = started;
  if (environments?.exitCode === null && environments.signalCode === null) {
    environments.kill('SIGTERM');
    await once(environments, 'exit');
  }
  if (directory) await removeData(stateFolder(directory));
  await removeSharedFolder();
}
