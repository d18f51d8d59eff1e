import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { temporaryFolder } from '../support/temporary-folder';

const path = temporaryFolder();
const pinned = /cfn-lint==(.+)/.exec(readFileSync(join(projectRoot, '.ci/requirements.txt'), 'utf8'))?.[1];

/** Runs `.ci/run checks` with a few commands only. `stubs` are shell scripts, which record their arguments first. */
function run(stubs: Readonly<Record<string, string>>, CI = '') {
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
  const { status, stdout, stderr } = spawnSync('/bin/bash', ['.ci/run', 'checks'], { cwd: projectRoot, env });
  const called = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
  return { status, printed: String(stdout) + String(stderr), called };
}

const lint =
  'cfn-lint --non-zero-exit-code error --regions eu-central-1 --template cdk.out/WalletEu.template.json';

it.each([
  ['1.0.0', 'true', 1, 'is required, but this machine has 1.0.0.', []],
  [pinned, 'true', 1, 'Skipped: shellcheck', ['npm ci', 'npm run synth', lint]],
  [pinned, '', 0, 'Skipped: shellcheck', ['npm ci', 'npm run synth', lint]],
])(
  'with cfn-lint %s, without apt-get and with CI=%s, it exits with %d: %s',
  (version, CI, status, message, calls) => {
    const { called, ...outcome } = run({ 'cfn-lint': `echo cfn-lint ${version}` }, CI);
    expect(outcome).toEqual({ status, printed: expect.stringContaining(message) });
    expect(called.filter((call) => ['npm ci', 'npm run synth', lint].includes(call))).toEqual(calls);
  },
);

it('fails when one of the concurrent commands fails, and prints the output of each', () => {
  const { status, printed } = run({ npm: 'echo "ran $*"; [ "$2" != fuzz ]' });
  expect(status).toBe(1);
  for (const text of ['Skipped: cfn-lint', 'ran run compatible --', 'Failed: (npm run fuzz -- --runs 200)'])
    expect(printed).toContain(text);
});
