import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const requirements = readFileSync(join(projectRoot, '.ci/requirements.txt'), 'utf8');
const pinned = (linter: string) =>
  new RegExp(`^${linter}(?:-py)?==(\\d+\\.\\d+\\.\\d+)`, 'm').exec(requirements)?.[1];

/** The linters in their pinned versions, which also report one when they lint. */
const linters = Object.fromEntries(
  ['cfn-lint', 'actionlint', 'zizmor'].map((name) => [name, `echo ${name} ${pinned(name)}`]),
);
/** An assembly of one stack, for each synthesis. */
const node = `case "$*" in
--version) echo v20.20.0 ;;
*list-templates*) shift 3; for assembly; do echo "eu-central-1 $assembly/a.json"; done ;;
*) echo WALLET_EU_ACCOUNT=111111111111 ;;
esac`;

/** Runs `.ci/run` with a few commands only: shell scripts, which record their arguments first. */
function run(stubs: Readonly<Record<string, string>>, CI = '', group = 'checks') {
  const tools = join(folder(), 'bin');
  rmSync(folder(), { recursive: true });
  mkdirSync(tools, { recursive: true });
  for (const tool of 'sed dirname id mktemp cat rm tee grep bash env xargs mkdir nice'.split(' ')) {
    const real = ['/usr/bin', '/bin'].map((each) => join(each, tool)).find(existsSync);
    symlinkSync(real as string, join(tools, tool));
  }
  const calls = join(folder(), 'calls');
  for (const [name, script] of Object.entries({ npm: '', npx: '', node, ...linters, ...stubs })) {
    const text = `#!/bin/sh\necho "${name} $*" >>"${calls}"\n${script}\n`;
    writeFileSync(join(tools, name), text, { mode: 0o755 });
  }
  const env = { PATH: tools, CI, CI_CACHE: join(folder(), 'cache') };
  const { status, stdout, stderr } = spawnSync('/bin/bash', ['.ci/run', group], { cwd: projectRoot, env });
  const called = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
  return { status, printed: String(stderr) + String(stdout), called };
}

it.each([
  ['', 0],
  ['true', 1],
])('without apt-get and with CI="%s" it names what it skips, and exits with %d', (CI, status) => {
  const { called, ...outcome } = run({}, CI);
  const printed = expect.stringContaining('Skipped: shellcheck, npm run test:tools and npm run test:browser');
  expect(outcome).toEqual({ status, printed });
  expect(called.includes('npm run typecheck')).toBe(status === 0);
});

it.each([
  [0, '3 passed, 0 failed'],
  [1, '2 passed, 1 failed'],
])('exits with %d when the suite ends with "%s"', (status, line) => {
  const outcome = run({ npm: `[ "$1" != test ] || { echo ${line}; exit ${status}; }` }, '', 'tests');
  expect(outcome).toMatchObject({ status, printed: expect.stringContaining(line) });
});

it('fails when one of the concurrent commands fails, and prints the output of each', () => {
  const { status, printed } = run({ npm: 'echo "ran $*"; [ "$2" != bench ]' });
  expect(status).toBe(1);
  for (const text of ['ran run compatible --', 'Failed: (npm run bench -- --effort 1)'])
    expect(printed).toContain(text);
});

it('an assembly without stacks is not linted in silence', () => {
  const manifest = { artifacts: { Tree: { type: 'cdk:tree' } } };
  writeFileSync(join(folder(), 'manifest.json'), JSON.stringify(manifest));
  const args = ['--require', 'tsx/cjs', '.ci/list-templates.ts', folder()];
  const { status, stderr } = spawnSync('node', args, { cwd: projectRoot, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('has no stacks') });
});
