import { provideAssembly } from '../../local/assembly/cache';
import { startLocal } from '../../local/start';
import { openState } from '../../local/state/lock';
import { startLocalCommand } from '../support/local-command';
import { openLocalEnvironment } from '../support/local-environment';
import { oneOfEachAccess } from '../support/rows';
import { type Harness, temporaryFolder } from './long-run';

/** Runs one environment for each database access, in a temporary folder and on free ports. */
export async function startEnvironments({ signal, cleanup }: Harness) {
  const state = openState(await temporaryFolder(cleanup));
  cleanup.add(() => state.close());
  const { assemblyDirectory: assembly, directory } = state;
  await provideAssembly({ directory: assembly, signal });
  const environments = oneOfEachAccess.map(({ name }) => name);
  // Functions write their problems to the logs, too.
  const log = { step: () => undefined, problem: () => undefined };
  const local = await startLocal({ assembly, state, environments, log, ports: 'any', signal });
  cleanup.add(() => local.stop());
  return openLocalEnvironment(directory);
}

/** `npm start` of the project in a folder, on a state folder and free ports. It ends with the run. */
export function startProject(directory: string, state: string, { signal, cleanup }: Harness) {
  const command = startLocalCommand(directory, '--state', state, '--port-offset', 'any');
  const stop = async () => {
    command.process.kill('SIGTERM');
    await command.ended();
  };
  cleanup.add(stop);
  signal.addEventListener('abort', stop);
  return { ...command, stop };
}
