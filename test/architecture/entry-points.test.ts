import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder';
import { projectRoot, sourcesIn } from './sources';

const folder = temporaryFolder();

it('every entry point reports uncaught errors first', () => {
  const entryPoints = sourcesIn('bin').filter(({ path }) => !/(uncaught|warn)\.ts$/.test(path));
  const names = entryPoints.map(({ path }) => path.replace(/^bin\/|\.ts$/g, ''));
  expect(names.sort()).toEqual(['account', 'app', 'guardrails', 'local', 'wallet']);
  for (const { text } of entryPoints) expect(text.startsWith("import './uncaught';\n")).toBe(true);
});

it.each([
  [
    'only the message for an invalid row',
    "require('./lib/environment/rules').validateEnvironments([])",
    /^error: environments is \[\]\. Give a list with at least one environment\.\n$/,
  ],
  ['the stack trace of a bug', "Promise.reject(new Error('a bug'))", /^Error: a bug\n {4}at /],
])('prints %s', (_, script, output) => {
  const code = `require('./bin/uncaught'); ${script}`;
  const args = ['--require', 'tsx/cjs', '--eval', code];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: projectRoot, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(output) });
});

it.each([
  ['a?b', /^error: .*a\?b contains "\?", .*Move the project/],
  ['node_modules', /^error: .* contains "node_modules", .*Move the project/],
  ['a %20#b', /^error: Run "npm ci" in the folder of the project first\.\n$/],
])('a program in a folder %s says what is missing', (name, output) => {
  const bin = join(folder(), name, 'bin');
  mkdirSync(bin, { recursive: true });
  cpSync(join(projectRoot, 'bin/tsx.cjs'), join(bin, 'tsx.cjs'));
  const args = ['--require', './bin/tsx.cjs', 'bin/local.ts'];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: dirname(bin), encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(output) });
});
