import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../local/assembly/synthesis';

/** A project with what loads TypeScript, and no more. */
const project = mkdtempSync(join(tmpdir(), 'wallet-test-'));
const native = `node_modules/@esbuild/${process.platform}-${process.arch}`;
beforeAll(() => {
  for (const path of ['bin/tsx.cjs', 'tsconfig.json', 'node_modules/tsx', 'node_modules/esbuild', native])
    cpSync(join(projectRoot, path), join(project, path), { recursive: true });
  writeFileSync(join(project, 'program.ts'), 'const text: string = "started";\nconsole.log(text);');
});
afterAll(() => rmSync(project, { recursive: true }));

function run(temporary: string) {
  const args = ['--require', './bin/tsx.cjs', 'program.ts'];
  const options = {
    cwd: project,
    env: { PATH: '/usr/bin:/bin', TMPDIR: temporary },
    encoding: 'utf8',
  } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  return [status, stdout, stderr];
}

it('loads TypeScript', () => {
  expect(run(mkdtempSync(join(project, 'cold-')))).toEqual([0, 'started\n', '']);
});

it.each<[string, prepare: () => void, temporary: string, said: RegExp]>([
  ['the temporary folder cannot be written', () => undefined, '/dev/null', /, \/dev\/null, .* TMPDIR/],
  [
    'programs may not be executed',
    () => chmodSync(join(project, native, 'bin/esbuild'), 0o644),
    'cold',
    /noexec/,
  ],
  ['the modules are incomplete', () => rmSync(join(project, native), { recursive: true }), 'cold', /npm ci/],
  [
    'the modules are of another platform',
    () => {
      const other = join(project, 'node_modules/@esbuild/aix-ppc64');
      mkdirSync(other);
      writeFileSync(join(other, 'package.json'), '{"name":"@esbuild/aix-ppc64"}');
    },
    'cold',
    /not of this machine.*npm ci/,
  ],
])('says in one line that %s', (_, prepare, temporary, said) => {
  prepare();
  const folder = temporary === 'cold' ? mkdtempSync(join(project, 'cold-')) : temporary;
  const line = new RegExp(`^error: .*${said.source}.*\n$`);
  expect(run(folder)).toEqual([1, '', expect.stringMatching(line)]);
});
