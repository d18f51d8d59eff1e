import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Decide } from '../../local/aws/iam/permissions';
import { startLocal } from '../../local/start';
import { openState } from '../../local/state/lock';
import { startInProcess } from './in-process';
import { prepareAssembly } from './prepared-state';

/** Starts environments, all by default, with their functions in this process. */
export async function startOwnEnvironments(environments?: readonly string[], decide?: Decide) {
  const directory = mkdtempSync(join(tmpdir(), 'wallet-test-'));
  await prepareAssembly(directory);
  const state = openState(directory);
  const { assemblyDirectory: assembly } = state;
  const log = { step: () => undefined, problem: () => undefined };
  const options = { assembly, state, ports: 'any', log, runtime: startInProcess } as const;
  const local = await startLocal({
    ...options,
    ...(environments && { environments }),
    ...(decide && { decide }),
  });
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
  const { state, stop } = await startOwnEnvironments();
  process.send?.(state.directory);
  await ended;
  await stop();
  process.exit();
}

if (require.main === module) void main();
