import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Shared with `stop-local-environment.ts`, which runs in the same process. */
export const started: { process?: ChildProcess; directory?: string } = {};

/**
 * Starts every environment on free ports, without waiting: the tests wait for what they need.
 * They find the environments by the variable `LOCAL_ENVIRONMENT`, the state folder.
 */
export default function startLocalEnvironment(): void {
  const directory = join(mkdtempSync(join(tmpdir(), 'wallet-end-to-end-')), 'state');
  const log = openSync(join(directory, '..', 'start.log'), 'w');
  started.directory = directory;
  started.process = fork(join(__dirname, 'local-environment-process.ts'), [directory], {
    execArgv: ['--import', require.resolve('tsx')],
    stdio: ['ignore', log, log, 'ipc'],
  });
  process.env.LOCAL_ENVIRONMENT = directory;
}
