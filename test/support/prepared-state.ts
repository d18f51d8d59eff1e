import { cpSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { provideAssembly, sources } from '../../local/assembly/assembly-cache';
import { projectRoot } from '../../local/assembly/synthesis';
import { openState, stateFolder } from '../../local/state';
import { folderOncePerRun } from './once-per-run';
import { copyWithOwners } from './postgres';

/** Copies the stacks' assembly into a new state folder, as if from an earlier start. Does nothing outside Jest. */
export async function prepareAssembly(stateDirectory: string): Promise<void> {
  openState(stateDirectory).close();
  await copyAssembly(stateFolder(stateDirectory).assemblyDirectory);
}

/** Copies the assembly of the run's one synthesis in a process, which has only the listed sources. */
export async function copyAssembly(to: string): Promise<void> {
  const assembly = await folderOncePerRun('stacks', async (directory) => {
    const root = `${directory}.sources`;
    for (const name of sources.filter((each) => !each.startsWith('node_modules')))
      cpSync(join(projectRoot, name), join(root, name), { recursive: true });
    symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
    await provideAssembly({ directory, root, signal: new AbortController().signal });
    rmSync(root, { recursive: true });
  });
  if (assembly) copyWithOwners(assembly, to);
}
