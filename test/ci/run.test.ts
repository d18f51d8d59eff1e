import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { temporaryFolder } from '../support/temporary-folder';

const path = temporaryFolder();
const pinned = /cfn-lint==(.+)/.exec(readFileSync(join(projectRoot, '.ci/requirements.txt'), 'utf8'))?.[1];

/** Runs `.ci/run` with a few commands only. `stubs` are shell scripts, which record their arguments first. */
function run(group: string, stubs: Readonly<Record<string, string>> = {}, CI = '') {
  for (const tool of ['sed', 'dirname', 'id', 'mktemp', 'cat', 'rm']) {
    const real = ['/usr/bin', '/bin'].map((folder) => join(folder, tool)).find(existsSync);
    symlinkSync(real as string, join(path(), tool));
  }
  const calls = join(path(), 'calls');
  const node = 'echo eu-central-1 cdk.out/WalletEu.template.json';
  for (const [name, script] of Object.entries({ npm: '', node, ...stubs })) {
    const text = `#!/bin/sh\necho "${name} $*" >>"${calls}"\n${script}\n`;
    writeFileSync(join(path(), name), text, { mode: 0o755 });
  }
  const env = { PATH: path(), CI };
  const { status, stdout, stderr } = spawnSync('/bin/bash', ['.ci/run', group], { cwd: projectRoot, env });
  const called = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
  return { status, printed: String(stdout) + String(stderr), called };
}

it.each([
  ['1.0.0', `cfn-lint ${pinned} is required, but this machine has 1.0.0.`, 'true', 1],
  [pinned, 'Skipped: shellcheck', 'true', 1],
  [pinned, 'Skipped: shellcheck', '', 0],
])('with cfn-lint %s it prints "%s", with CI=%s', (version, message, CI, status) => {
  const outcome = run('checks', { 'cfn-lint': `echo cfn-lint ${version}` }, CI);
  expect(outcome).toMatchObject({ status, printed: expect.stringContaining(message) });
  const linted = '--regions eu-central-1 --template cdk.out/WalletEu.template.json';
  const isLinted = outcome.called.includes(`cfn-lint --non-zero-exit-code error ${linted}`);
  expect([isLinted, outcome.called.includes('npm ci')]).toEqual(
    version === pinned ? [true, true] : [false, false],
  );
});

it('runs every check without cfn-lint outside CI, and prints what is skipped', () => {
  const { status, printed, called } = run('checks');
  expect({ status, called: called.sort() }).toEqual({
    status: 0,
    called: [
      'npm ci',
      'npm run bench -- --effort 0.001',
      'npm run compatible --',
      'npm run endurance -- --duration 20s',
      'npm run fuzz -- --runs 200',
      'npm run lint',
      'npm run mutate -- --mutate domain/allow-list.ts:134-138',
      'npm run synth',
      'npm run typecheck',
    ],
  });
  expect(printed).toContain('Skipped: cfn-lint is not installed.');
});

it('fails when one of the concurrent commands fails, and prints the output of each', () => {
  const { status, printed } = run('checks', { npm: 'echo "ran $*"; [ "$2" != fuzz ]' });
  expect(status).toBe(1);
  for (const text of ['ran run compatible --', 'ran run bench', 'Failed: (npm run fuzz -- --runs 200)'])
    expect(printed).toContain(text);
});

it('runs only the tests without cfn-lint', () => {
  expect(run('tests', {}, 'true')).toMatchObject({ status: 0, called: ['npm ci', 'npm test'] });
});

it('exits with 2 for an unknown group', () => {
  expect(run('test')).toMatchObject({ status: 2, called: [], printed: expect.stringContaining('no test.') });
});
