import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, readSource } from '../architecture/sources';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const requirements = readSource('.ci/requirements.txt');
/** The linters in their pinned versions. */
const linters = ['cfn-lint', 'actionlint', 'zizmor'].map((name) => {
  const [, pinned] = new RegExp(`^${name}(?:-py)?==(\\d+\\.\\d+\\.\\d+)`, 'm').exec(requirements) ?? [];
  return [name, `echo ${name} ${pinned}`] as const;
});
/** A Node.js that is not Lambda's, with an assembly of one stack for each synthesis. */
const node = `case "$*" in
--version) echo v20.20.0 ;;
*list-templates*) shift 3; for assembly; do echo "eu-central-1 $assembly/a.json"; done ;;
*) echo WALLET_EU_ACCOUNT=111111111111 ;;
esac`;
/** Nobody who may install Debian packages, with no need for other linters. */
const user = { id: 'echo 1000', sudo: 'exit 1', python3: 'echo installs linters; exit 1' };

it.each([
  ['.ci/run checks', ':', 0, /Skipped: shellcheck, npm run test:tools.*== npm run typecheck/s],
  ['CI=true .ci/run checks', ':', 1, /Skipped: shellcheck, npm run test:tools(?!.*== npm)/s],
  ['.ci/run tests', 'echo 3 passed, 0 failed', 0, /== Done.*Node.js v20.20.0: 3 passed/s],
  ['.ci/run tests', 'echo "ran $*"; [ "$1" != test ]', 1, /ran ci\n.*ran test\n(?!.*Done)/s],
  // Those that ran beside it are printed, and what failed stands last.
  ['.ci/run checks', 'echo "$@"; [ "$2" != bench ]', 1, /compatible --\n.*simul.*Failed.*bench .*1\n$/s],
])('%s with "%s" as npm exits with %d', (command, npm, exitCode, said) => {
  for (const [name, script] of [...linters, ...Object.entries({ ...user, node, npm })])
    writeFileSync(join(folder(), name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const env = { PATH: `${folder()}:${process.env.PATH}`, HOME: folder(), CI_CACHE: folder() };
  const options = { cwd: projectRoot, env, encoding: 'utf8' } as const;
  const { status, output } = spawnSync('bash', ['-c', command], options);
  const printed = output.join('');
  expect({ status, printed }).toEqual({ status: exitCode, printed: expect.stringMatching(said) });
  expect(printed).not.toContain('installs linters');
});

it.each(['explain-cancellation', 'install-linters', 'run', 'show-diff'])('.ci/%s says its usage', (name) => {
  const env = { PATH: process.env.PATH, GITHUB_STEP_SUMMARY: '/dev/null' };
  const options = { cwd: projectRoot, env, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync('bash', [`.ci/${name}`, ''], options);
  expect(stderr).toContain('Usage: ');
  expect(status).toBeGreaterThan(0);
});

it('an assembly without stacks is not linted in silence', () => {
  const manifest = { artifacts: { Tree: { type: 'cdk:tree' } } };
  writeFileSync(join(folder(), 'manifest.json'), JSON.stringify(manifest));
  const args = ['--require', 'tsx/cjs', '.ci/list-templates.ts', folder()];
  const { status, stderr } = spawnSync('node', args, { cwd: projectRoot, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('has no stacks') });
});
