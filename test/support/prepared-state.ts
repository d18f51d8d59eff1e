import { join } from 'node:path';
import { provideAssembly } from '../../local/assembly/cache';
import { sharedInRun } from './once-per-run';
import { copyWithOwners } from './postgres';
import { copyProject } from './project-copy';

/** Copies the run's assembly, as if from an earlier start. */
export async function copyAssembly(to: string): Promise<void> {
  copyWithOwners((await sharedInRun('assembly')).directory, to);
}

/** The run's one synthesis of all stacks in a process, from the listed sources alone. */
export async function synthesizeAssembly(folder: string) {
  const root = join(folder, 'sources');
  copyProject(root);
  const directory = join(folder, 'assembly');
  await provideAssembly({ directory, root, signal: new AbortController().signal });
  return { directory };
}
