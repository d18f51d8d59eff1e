import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cleanup } from '../../../local/cleanup';
import { temporaryFolder } from '../../support/temporary-folder';
import { openBase, readBase, usualBase } from './base';

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

describe('without --base', () => {
  let first: string;
  beforeEach(() => {
    git('init', '--quiet', '--initial-branch', 'work');
    first = commit();
  });

  it('a first commit has no base, later ones have their parent', () => {
    expect(usualBase(folder())).toBeUndefined();
    commit();
    expect(usualBase(folder())).toEqual({ commit: first });
  });

  it('the base is the merge base with origin/main, or the parent on origin/main', () => {
    const second = commit();
    git('update-ref', 'refs/remotes/origin/main', second);
    expect(usualBase(folder())).toEqual({ commit: first });
    commit();
    commit();
    expect(usualBase(folder())).toEqual({ commit: second });
  });

  it('refuses a shallow clone, with the remedy', () => {
    commit();
    const clone = join(folder(), 'clone');
    git('clone', '--quiet', '--depth', '1', `file://${folder()}`, clone);
    expect(() => usualBase(clone)).toThrow('Run `git fetch --unshallow`, or give --base.');
  });
});

it('unpacks a commit with the packages of the same lock file, and removes it', async () => {
  git('init', '--quiet');
  const base = commit('{"a":1}');
  commit('{"a":1}');
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

it('refuses a folder without packages, and what is neither folder nor commit', () => {
  const checkout = join(folder(), 'checkout');
  mkdirSync(checkout);
  writeFileSync(join(checkout, 'package.json'), '{}');
  expect(() => readBase(checkout)).toThrow(
    'has no node_modules: give a checkout of the project, and run `npm ci` in it.',
  );
  mkdirSync(join(checkout, 'node_modules'));
  expect(readBase(checkout)).toEqual({ directory: checkout });
  expect(() => readBase('no-such-branch')).toThrow('"no-such-branch" is neither a folder nor a commit.');
});
