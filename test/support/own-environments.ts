import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalOptions, startLocal } from '../../local/start';
import { openState } from '../../local/state/lock';
import { startInProcess } from './in-process';
import { sharedInRun } from './once-per-run';
import { copyNewCluster } from './postgres';
import { running } from './rows';

/** Starts environments, all by default, with their functions in this process. */
export async function startOwnEnvironments(options: Partial<LocalOptions>) {
  const directory = mkdtempSync(join(tmpdir(), 'wallet-test-'));
  const { directory: assembly } = await sharedInRun('assembly');
  const state = openState(directory);
  await copyNewCluster(state.emptyClusterDirectory);
  const log = { step: () => undefined, problem: () => undefined };
  const local = await startLocal({ assembly, state, ports: 'any', log, runtime: startInProcess, ...options });
  return {
    local,
    state,
    async stop() {
      await local.stop();
      state.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** As a process: those of a test run. It stops them when its parent disconnects or exits. */
async function main(): Promise<void> {
  const ended = new Promise((end) => process.on('disconnect', end));
  process.on('SIGINT', () => undefined);
  const { state, stop } = await startOwnEnvironments({ environments: running.map(({ name }) => name) });
  process.send?.(state.directory);
  await ended;
  await stop();
  process.exit();
}

if (require.main === module) void main();
