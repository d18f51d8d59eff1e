import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { provideAssembly, sources } from '../../local/assembly/cache';
import { projectRoot } from '../../local/assembly/synthesis';
import { sharedInRun } from './once-per-run';
import { copyWithOwners } from './postgres';

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

const table = 'test/support/table';

/** Copies the sources of the stacks into a folder, and `more`, for processes, with the tests' own table as theirs. */
export function copyProject(to: string, ...more: readonly string[]): void {
  const copied = sources.filter((each) => !each.startsWith('node_modules'));
  for (const name of [...copied, ...more, `${table}.ts`])
    cpSync(join(projectRoot, name), join(to, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(to, 'node_modules'));
  writeFileSync(join(to, 'lib/environments.ts'), `export * from '../${table}';\n`);
}
