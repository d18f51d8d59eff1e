import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Harness, projectRoot, temporaryFolder } from '../long-run';

const git = (repository: string, ...args: string[]): string =>
  execFileSync('git', args, {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

function commitOf(repository: string, ref: string): string | undefined {
  try {
    return git(repository, 'rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`);
  } catch {
    return undefined;
  }
}

/**
 * The merge base with `origin/main`; on `origin/main` itself, or without one, the first parent.
 *
 * @throws Error with the remedy if git lacks it
 */
export function usualBase(repository = projectRoot): string {
  const fork = commitOf(repository, 'origin/main') && git(repository, 'merge-base', 'HEAD', 'origin/main');
  const commit = fork && fork !== commitOf(repository, 'HEAD') ? fork : commitOf(repository, 'HEAD^1');
  // A merge base of truncated history may be too old.
  if (commit !== undefined && git(repository, 'rev-parse', '--is-shallow-repository') === 'false')
    return commit;
  throw new Error('git has no base for this commit. Run `git fetch --unshallow`, or give --base.');
}

/**
 * A folder with the base and its packages.
 *
 * @param base a checkout with its packages, or what git knows as a commit
 */
export async function openBase(base: string, { cleanup, progress }: Harness): Promise<string> {
  if (existsSync(base)) return resolve(base);
  const commit = commitOf(projectRoot, base);
  if (commit === undefined)
    throw new Error(
      `"${base}" is neither a folder nor a commit. Give a checkout with node_modules, or fetch it.`,
    );
  const directory = await temporaryFolder(cleanup);
  progress(`Base: ${git(projectRoot, 'log', '-1', '--format=%h %s', commit)}`);
  const archive = execFileSync('git', ['archive', commit], { cwd: projectRoot, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', directory], { input: archive });
  const lock = (project: string) => readFileSync(join(project, 'package-lock.json'), 'utf8');
  if (lock(directory) === lock(projectRoot)) {
    symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
  } else {
    progress('Its packages differ: npm ci');
    const options = ['ci', '--no-audit', '--no-fund'];
    execFileSync('npm', options, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return directory;
}
