import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder';
import { usualBase } from './base';
import { releasesFor } from './run';

const folder = temporaryFolder();
const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];
const git = (...args: string[]) =>
  execFileSync('git', [...author, ...args], { cwd: folder(), encoding: 'utf8', stdio: 'pipe' }).trim();

function commit(): string {
  git('commit', '--allow-empty', '--message', 'A change');
  return git('rev-parse', 'HEAD');
}

it('compares with the merge base with origin/main; on it, with the parent; refuses a shallow clone', () => {
  git('init', '--quiet', '--initial-branch', 'work');
  const first = commit();
  const second = commit();
  git('update-ref', 'refs/remotes/origin/main', second);
  expect(usualBase(folder())).toBe(first);
  commit();
  commit();
  expect(usualBase(folder())).toBe(second);

  const clone = join(folder(), 'clone');
  git('clone', '--quiet', '--depth', '2', `file://${folder()}`, clone);
  expect(() => usualBase(clone)).toThrow('Run `git fetch --unshallow`, or give --base.');
});

it('rolls back every migration except irreversible ones', () => {
  const secrets = { name: '0009-b', irreversible: 'secrets' };
  expect(releasesFor([{ name: '0008-a' }])).toEqual(['base', 'change', 'base']);
  expect(releasesFor([{ name: '0008-a' }, secrets])).toEqual(['base', 'change']);
});
