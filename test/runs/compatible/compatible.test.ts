import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cleanup } from '../../../local/cleanup';
import { temporaryFolder } from '../../support/temporary-folder';
import { openBase, readBase, usualBase } from './base';
import { deploymentsFor } from './run';

const folder = temporaryFolder();
const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];
const git = (...args: string[]) =>
  execFileSync('git', [...author, ...args], { cwd: folder(), encoding: 'utf8', stdio: 'pipe' }).trim();

/** Commits a lock file. @returns the commit */
function commit(lock = '{}'): string {
  writeFileSync(join(folder(), 'package-lock.json'), lock);
  git('add', 'package-lock.json');
  git('commit', '--allow-empty', '--message', 'A change');
  return git('rev-parse', 'HEAD');
}

it('compares with the merge base with origin/main; on it, with the parent; a first commit with none', () => {
  git('init', '--quiet', '--initial-branch', 'work');
  const first = commit();
  expect(usualBase(folder())).toBeUndefined();
  const second = commit();
  git('update-ref', 'refs/remotes/origin/main', second);
  expect(usualBase(folder())).toEqual({ commit: first });
  commit();
  commit();
  expect(usualBase(folder())).toEqual({ commit: second });

  const clone = join(folder(), 'clone');
  git('clone', '--quiet', '--depth', '1', `file://${folder()}`, clone);
  expect(() => usualBase(clone)).toThrow('Run `git fetch --unshallow`, or give --base.');
});

it('unpacks a commit with the packages of the same lock file, and removes it', async () => {
  git('init', '--quiet');
  const base = commit('{"a":1}');
  writeFileSync(join(folder(), 'later.txt'), '');
  mkdirSync(join(folder(), 'node_modules'));
  const cleanup = new Cleanup();
  const directory = await openBase(readBase(base, folder()), cleanup, () => undefined, folder());
  expect(readFileSync(join(directory, 'package-lock.json'), 'utf8')).toBe('{"a":1}');
  expect(existsSync(join(directory, 'later.txt'))).toBe(false);
  expect(realpathSync(join(directory, 'node_modules'))).toBe(realpathSync(join(folder(), 'node_modules')));
  await cleanup.run();
  expect(existsSync(directory)).toBe(false);
});

it('rolls back every migration except irreversible ones', () => {
  const releases = (...migrations: Parameters<typeof deploymentsFor>[0]) =>
    deploymentsFor(migrations).map(({ release }) => release);
  expect(releases({ name: '0008-a' })).toEqual(['base', 'change', 'base']);
  const secrets = { name: '0009-b', irreversible: 'secrets' };
  expect(releases({ name: '0008-a' }, secrets)).toEqual(['base', 'change']);
});
