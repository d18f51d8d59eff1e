import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Cleanup } from '../../../local/cleanup';
import { projectRoot, temporaryFolder } from '../long-run';

/** The base of a comparison: a checkout with its packages, or a commit of this repository. */
export type Base = { readonly directory: string } | { readonly commit: string };

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

/** Reads a folder or a name that git knows. @throws Error when it is neither */
export function readBase(text: string, repository = projectRoot): Base {
  if (existsSync(text) && statSync(text).isDirectory()) return { directory: resolve(text) };
  const commit = commitOf(repository, text);
  if (commit !== undefined) return { commit };
  throw new Error(
    `"${text}" is neither a folder nor a commit. Give a checkout with node_modules, or fetch the commit.`,
  );
}

/**
 * The merge base with `origin/main`; on `origin/main` itself, or without one, the first parent.
 *
 * @returns undefined for the first commit
 * @throws Error with the remedy if git lacks the history
 */
export function usualBase(repository = projectRoot): Base | undefined {
  const head = commitOf(repository, 'HEAD');
  if (head === undefined) throw new Error(`${repository} has no git history. Give the base with --base.`);
  if (git(repository, 'rev-parse', '--is-shallow-repository') === 'true')
    throw new Error(
      'This clone is shallow: the base may be missing. Run `git fetch --unshallow`, or give --base.',
    );
  const fork = commitOf(repository, 'origin/main') && git(repository, 'merge-base', 'HEAD', 'origin/main');
  const commit = fork && fork !== head ? fork : commitOf(repository, 'HEAD^1');
  return commit === undefined ? undefined : { commit };
}

/** A folder with the base and its packages. `cleanup` removes what was created for it. */
export async function openBase(
  base: Base,
  cleanup: Cleanup,
  progress: (line: string) => void,
  repository = projectRoot,
): Promise<string> {
  if ('directory' in base) return base.directory;
  const directory = await temporaryFolder(cleanup);
  progress(`Base: ${git(repository, 'log', '-1', '--format=%h %s', base.commit)}`);
  const archive = execFileSync('git', ['archive', base.commit], { cwd: repository, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', directory], { input: archive });
  const lock = (project: string) => readFileSync(join(project, 'package-lock.json'), 'utf8');
  if (lock(directory) === lock(repository)) {
    symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
  } else {
    progress('Its packages differ: npm ci');
    const options = ['ci', '--no-audit', '--no-fund'];
    execFileSync('npm', options, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return directory;
}
