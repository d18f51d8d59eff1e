import { provideAssembly } from '../../local/assembly/assembly-cache';
import { startLocal } from '../../local/start';
import { openState } from '../../local/state';
import { startInProcess } from './in-process';
import { copyAssembly } from './prepared-state';

/** The environments of a test run, with functions in this process. Exits on a signal, and when its parent has exited. */
async function main(directory: string): Promise<void> {
  const ended = new Promise((end) => {
    process.on('SIGTERM', end);
    process.on('SIGINT', () => undefined);
    process.on('disconnect', end);
  });
  const state = openState(directory);
  const { assemblyDirectory: assembly } = state;
  await copyAssembly(assembly);
  await provideAssembly({ directory: assembly, signal: new AbortController().signal });
  const log = { step: console.log, problem: console.log };
  const local = await startLocal({ assembly, state, ports: 'any', log, runtime: startInProcess });
  await ended;
  await local.stop();
  state.close();
  process.exit(0);
}

const [, , state = ''] = process.argv;
void main(state);
