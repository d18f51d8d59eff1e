import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sources } from '../../local/assembly/cache';
import { projectRoot } from '../../local/assembly/synthesis';

const table = 'test/support/table';

/**
 * Copies the sources of the stacks into a folder, for processes, with the tests' own table as theirs.
 *
 * @param more other files and folders to copy, such as `cli`
 */
export function copyProject(to: string, ...more: readonly string[]): void {
  const copied = sources.filter((each) => !each.startsWith('node_modules'));
  for (const name of [...copied, ...more, `${table}.ts`])
    cpSync(join(projectRoot, name), join(to, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(to, 'node_modules'));
  writeFileSync(join(to, 'lib/environments.ts'), `export * from '../${table}';\n`);
}
