import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

/** @param temporary the folder for temporary files. @default - one without what tsx keeps there */
function run(temporary = mkdtempSync(join(project, 'cold-'))) {
  const args = ['--require', './bin/tsx.cjs', 'program.ts'];
  const options = { cwd: project, env: { PATH: '/usr/bin:/bin', TMPDIR: temporary } };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { ...options, encoding: 'utf8' });
  return [status, stdout, stderr];
}

const program = join(project, native, 'bin/esbuild');
const other = join(project, 'node_modules/@esbuild/aix-ppc64');
const copyAsOther = () => cpSync(join(projectRoot, native), other, { recursive: true });
// Each leaves what it does to the next.
it.each<[string, prepare: () => void, said: RegExp, temporary?: string]>([
  ['the temporary folder cannot be written', () => {}, /, \/dev\/null, .* TMPDIR/, '/dev/null'],
  ['programs may not be executed', () => chmodSync(program, 0o644), /noexec/],
  ['the modules are incomplete', () => rmSync(join(project, native), { recursive: true }), /npm ci/],
  ['the modules are of another platform', copyAsOther, /not of this machine.*npm ci/],
])('says in one line that %s', (_, prepare, said, temporary = undefined) => {
  prepare();
  const line = new RegExp(`^error: .*${said.source}.*\n$`);
  expect(run(temporary)).toEqual([1, '', expect.stringMatching(line)]);
});
