import { provideAssembly } from '../../local/assembly/assembly-cache';
import { startLocal } from '../../local/start';
import { openState, type StateFolder, stateFolder } from '../../local/state';
import { folderOncePerRun } from './once-per-run';
import { copyWithOwners } from './postgres';

export const silent = { step: () => undefined, problem: () => undefined };

/** Copies the stacks' assembly into a new state folder, as if from an earlier start. Synthesized once in a run. */
export async function prepareAssembly(stateDirectory: string): Promise<void> {
  openState(stateDirectory).close();
  const assembly = await folderOncePerRun('stacks', (directory) =>
    provideAssembly({ directory, signal: new AbortController().signal }),
  );
  if (assembly) copyWithOwners(assembly, stateFolder(stateDirectory).assemblyDirectory);
}

/** Copies all that an earlier start of these environments leaves: assembly, databases, keys, certificates. */
export async function prepareState(stateDirectory: string, names: readonly string[]): Promise<void> {
  openState(stateDirectory).close();
  const state = await folderOncePerRun('state', startOnce);
  if (!state) return;
  const partsOf = (folder: StateFolder) => [
    folder.assemblyDirectory,
    folder.certificatesDirectory,
    ...names.map((name) => folder.environment(name).directory),
  ];
  const to = partsOf(stateFolder(stateDirectory));
  for (const [index, part] of partsOf(stateFolder(state)).entries())
    copyWithOwners(part, to[index] as string);
}

async function startOnce(directory: string): Promise<void> {
  await prepareAssembly(directory);
  const state = openState(directory);
  const local = await startLocal({ assembly: state.assemblyDirectory, state, ports: 'any', log: silent });
  await local.stop();
  state.close();
}
