import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
const git = (at: string, ...args: string[]) =>
  execFileSync('git', [...identity, ...args], { cwd: at, encoding: 'utf8' });

/** A repository with two commits and a linked worktree, and the variables that git gives the worktree's hooks. */
function createRepository() {
  const [main, linked] = [join(folder(), 'main'), join(folder(), 'linked')];
  mkdirSync(join(main, '.ci'), { recursive: true });
  copyFileSync(join(projectRoot, '.ci/show-diff'), join(main, '.ci/show-diff'));
  git(main, 'init', '--quiet', '--initial-branch', 'main');
  git(main, 'add', '.');
  git(main, 'commit', '--quiet', '--message', 'base');
  git(main, 'worktree', 'add', '--quiet', '-b', 'topic', linked);
  writeFileSync(join(linked, 'unrelated'), '');
  git(linked, 'add', '.');
  git(linked, 'commit', '--quiet', '--message', 'change');
  const [gitFolder, index] = git(linked, 'rev-parse', '--git-dir', '--git-path', 'index').trim().split('\n');
  return { main, linked, variables: { GIT_DIR: gitFolder, GIT_INDEX_FILE: index, GIT_PREFIX: '' } };
}

it('npm run diff compares both synthesized, and from a git hook leaves the commit as it was', () => {
  const { linked, variables } = createRepository();
  const tools = join(folder(), 'tools');
  mkdirSync(tools);
  const record = (name: string) => `#!/bin/sh\necho ${name} "$@" >> '${folder()}/calls'\n`;
  for (const name of ['npm', 'npx', 'node']) writeFileSync(join(tools, name), record(name), { mode: 0o755 });
  const env = { ...process.env, ...variables, PATH: `${tools}:${process.env.PATH}` };
  const options = { cwd: linked, env, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync('bash', ['.ci/show-diff', '--base', 'main'], options);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('Synthesizing') });
  const calls = /^npm ci .*\nnpx .* cdk synth .*\/base\.out\nnpx .*\/(.*)\nnode .*\/base\.out .*\/\1\n$/;
  expect(readFileSync(join(folder(), 'calls'), 'utf8')).toMatch(calls);
  expect(git(linked, 'status', '--short')).toBe('');
});

it('a long run, run from a git hook, reads this repository', () => {
  const { variables, main } = createRepository();
  const command = ['--require', 'tsx/cjs', 'test/runs/compatible/command.ts', '--base', 'topic'];
  const env = { ...process.env, ...variables, GIT_WORK_TREE: main };
  const { status, stderr } = spawnSync('node', command, { cwd: projectRoot, env, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringContaining('git has no commit "topic"'),
  });
});
