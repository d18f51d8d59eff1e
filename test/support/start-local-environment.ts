import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import shareFolder from './share-folder';

/** For `tear-down.ts`, which runs in the same process. */
export const started: { process?: ChildProcess; directory?: string } = {};

/**
 * Starts every environment on free ports, without waiting: the tests wait for what they need.
 * They find the environments by the variable `LOCAL_ENVIRONMENT`, the state folder.
 */
export default async function startLocalEnvironment(): Promise<void> {
  const directory = join(await shareFolder(), 'end-to-end', 'state');
  mkdirSync(directory, { recursive: true });
  const log = openSync(join(directory, '..', 'start.log'), 'w');
  started.directory = directory;
  started.process = fork(join(__dirname, 'own-environments.ts'), [directory], {
    execArgv: ['--import', require.resolve('tsx')],
    stdio: ['ignore', log, log, 'ipc'],
  });
  process.env.LOCAL_ENVIRONMENT = directory;
}
