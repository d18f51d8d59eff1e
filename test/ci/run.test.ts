import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';
import { temporaryFolder } from '../support/temporary-folder';

const path = temporaryFolder();
const pinned = /cfn-lint==(.+)/.exec(readFileSync(join(projectRoot, '.ci/requirements.txt'), 'utf8'))?.[1];

/** A command that records its arguments, then prints something. */
function stub(name: string, says = ''): void {
  const file = join(path(), name);
  writeFileSync(file, `#!/bin/sh\necho "${name} $*" >>"${path()}/calls"\necho '${says}'\n`);
  chmodSync(file, 0o755);
}

/** Runs `.ci/run` with these commands only. */
function run(group: string, variables: NodeJS.ProcessEnv = {}, prepare = () => {}) {
  const tools = ['sed', 'dirname', 'id', 'mktemp', 'cat', 'rm'];
  const real = (tool: string) =>
    ['/usr/bin', '/bin'].map((folder) => join(folder, tool)).find(existsSync) as string;
  for (const tool of tools) symlinkSync(real(tool), join(path(), tool));
  stub('npm');
  stub('node', 'eu-central-1 cdk.out/WalletEu.template.json');
  prepare();
  const env = { PATH: path(), ...variables };
  const { status, stdout, stderr } = spawnSync('/bin/bash', ['.ci/run', group], { cwd: projectRoot, env });
  const calls = existsSync(join(path(), 'calls')) ? readFileSync(join(path(), 'calls'), 'utf8') : '';
  return { status, printed: String(stdout) + String(stderr), calls: calls.split('\n').slice(0, -1) };
}

it('fails at once in CI without cfn-lint, and prints how to install the pinned version', () => {
  const { status, printed, calls } = run('checks', { CI: 'true' });
  expect({ status, calls }).toEqual({ status: 1, calls: [] });
  expect(printed).toContain(`cfn-lint ${pinned} is required, but this machine has none.`);
  expect(printed).toContain(`pip install cfn-lint==${pinned}`);
});

it('fails at once in CI with another cfn-lint', () => {
  stub('cfn-lint', 'cfn-lint 1.0.0');
  const { status, printed, calls } = run('checks', { CI: 'true' });
  expect({ status, calls }).toEqual({ status: 1, calls: ['cfn-lint --version'] });
  expect(printed).toContain(`cfn-lint ${pinned} is required, but this machine has 1.0.0.`);
});

it('runs in CI with the pinned cfn-lint, and skips no tools', () => {
  stub('cfn-lint', `cfn-lint ${pinned}`);
  const { status, printed, calls } = run('checks', { CI: 'true' });
  expect(calls).toEqual([
    'cfn-lint --version',
    'npm ci',
    ...checks,
    'node .ci/stack-regions.js cdk.out',
    'cfn-lint --non-zero-exit-code error --regions eu-central-1 --template cdk.out/WalletEu.template.json',
    'npm run endurance -- --duration 20s',
    ...sideBySide.map(() => expect.any(String)),
  ]);
  expect(calls.slice(-sideBySide.length).sort()).toEqual(sideBySide);
  // There is no apt-get: in CI that is a failure.
  expect({ status, printed }).toEqual({
    status: 1,
    printed: expect.stringContaining('Skipped: shellcheck'),
  });
});

const checks = ['npm run lint', 'npm run typecheck', 'npm run synth'];
const sideBySide = [
  'npm run bench -- --effort 0.001',
  'npm run compatible --',
  'npm run fuzz -- --runs 200',
  'npm run mutate -- --mutate domain/allow-list.ts:134-138',
];

it('runs without cfn-lint outside CI, and prints what is skipped', () => {
  const { status, printed, calls } = run('checks');
  expect(status).toBe(0);
  expect(calls.slice(0, -sideBySide.length)).toEqual([
    'npm ci',
    ...checks,
    'npm run endurance -- --duration 20s',
  ]);
  expect(printed).toContain('Skipped: cfn-lint is not installed.');
});

it('fails when one of the concurrent commands fails, and prints the output of each', () => {
  const npm = join(path(), 'npm');
  const { status, printed } = run('checks', {}, () =>
    writeFileSync(npm, '#!/bin/sh\necho "ran $*"\n[ "$2" != fuzz ]\n'),
  );
  expect(status).toBe(1);
  expect(printed).toContain('ran run compatible --');
  expect(printed).toContain('ran run bench -- --effort 0.001');
  expect(printed).toContain('Failed: (npm run fuzz -- --runs 200)');
});

it('runs only the tests without cfn-lint', () => {
  const { status, calls } = run('tests', { CI: 'true' });
  expect({ status, calls }).toEqual({ status: 0, calls: ['npm ci', 'npm test'] });
});

it('exits with 2 for an unknown group', () => {
  const { status, printed, calls } = run('test');
  expect({ status, calls }).toEqual({ status: 2, calls: [] });
  expect(printed).toContain('There is no test.');
});
