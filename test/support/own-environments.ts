import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocal } from '../../local/start';
import { openState } from '../../local/state';
import { startInProcess } from './in-process';
import { prepareAssembly } from './prepared-state';

/** Starts environments, all by default, with their functions in this process. Needs a run of Jest: `prepared-state.ts`. */
export async function startOwnEnvironments(
  environments?: readonly string[],
  directory = mkdtempSync(join(tmpdir(), 'wallet-test-')),
  print: (line: string) => void = () => undefined,
) {
  await prepareAssembly(directory);
  const state = openState(directory);
  const { assemblyDirectory: assembly } = state;
  const log = { step: print, problem: print };
  const options = { assembly, state, ports: 'any', log, runtime: startInProcess } as const;
  const local = await startLocal({ ...options, ...(environments && { environments }) });
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

/** As a process: those of a test run. It exits on a signal, and when its parent has exited. */
async function main(directory: string): Promise<void> {
  const ended = new Promise((end) => {
    process.on('SIGTERM', end);
    process.on('SIGINT', () => undefined);
    process.on('disconnect', end);
  });
  const { stop } = await startOwnEnvironments(undefined, directory, console.log);
  await ended;
  await stop();
  process.exit(0);
}

if (require.main === module) void main(process.argv[2] ?? '');
