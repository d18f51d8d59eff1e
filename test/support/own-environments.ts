import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocal } from '../../local/start';
import { openState } from '../../local/state';
import { startInProcess } from './in-process';
import { prepareAssembly, silent } from './prepared-state';

/** Starts environments in the process of one test file. */
export async function startOwnEnvironments(environments: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'wallet-test-'));
  await prepareAssembly(directory);
  const state = openState(directory);
  const { assemblyDirectory: assembly } = state;
  const runtime = startInProcess;
  const local = await startLocal({ assembly, state, ports: 'any', environments, log: silent, runtime });
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
