import { provideAssembly } from '../../local/assembly/assembly-cache';
import { startLocal } from '../../local/start';
import { openState, type StateFolder, stateFolder } from '../../local/state';
import { folderOncePerRun } from './once-per-run';
import { copyWithOwners } from './postgres';

export const silent = { step: () => undefined, problem: () => undefined };

/** Puts the stacks into a new state folder, as an earlier start would have kept them there: made once in a run. */
export async function keepStacksIn(stateDirectory: string): Promise<void> {
  openState(stateDirectory).close();
  const kept = await folderOncePerRun('stacks', (directory) =>
    provideAssembly({ directory, signal: new AbortController().signal }),
  );
  if (kept) copyWithOwners(kept, stateFolder(stateDirectory).assemblyDirectory);
}

/** The same with all that an earlier start of these environments would have left: databases, keys, certificates. */
export async function keepStateIn(stateDirectory: string, names: readonly string[]): Promise<void> {
  openState(stateDirectory).close();
  const kept = await folderOncePerRun('state', startOnce);
  if (!kept) return;
  const partsOf = (state: StateFolder) => [
    state.assemblyDirectory,
    state.certificatesDirectory,
    ...names.map((name) => state.environment(name).directory),
  ];
  const to = partsOf(stateFolder(stateDirectory));
  for (const [index, part] of partsOf(stateFolder(kept)).entries()) copyWithOwners(part, to[index] as string);
}

async function startOnce(directory: string): Promise<void> {
  await keepStacksIn(directory);
  const state = openState(directory);
  const local = await startLocal({ assembly: state.assemblyDirectory, state, ports: 'any', log: silent });
  await local.stop();
  state.close();
}
