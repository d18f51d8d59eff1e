import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { warningOf } from '../../bin/node-version';
import { environments } from '../../lib/environments';
import { runLocalCommand } from '../../local/command';
import { keepStacksIn } from '../support/kept-state';
import { temporaryFolder } from '../support/temporary-folder';

const projectRoot = resolve(__dirname, '../..');
const folder = temporaryFolder();

async function startIn(project: string, args: string[], variables = {}) {
  const said: string[] = [];
  const exitCode = await runLocalCommand(args, {
    print: (text) => said.push(text),
    note: (text) => said.push(text),
    projectRoot: project,
    variables,
    onSignal: () => undefined,
  });
  return { exitCode, said: said.join('\n') };
}

it.each(['', 'link', 'sub'])(
  'a state in "%s", which holds files of the project, is refused',
  async (state) => {
    const project = folder();
    mkdirSync(join(project, 'sub'));
    for (const file of ['package.json', 'sub/source.ts']) writeFileSync(join(project, file), '{}');
    symlinkSync(project, join(project, 'link'));
    const before = readdirSync(project, { recursive: true });
    const { exitCode, said } = await startIn(project, ['--state', state]);
    expect(exitCode).toBe(2);
    expect(said).toContain('Give another folder for the state with --state DIR.');
    expect(readdirSync(project, { recursive: true })).toEqual(before);
  },
);

it.each(['', '-1', '1.5', '0x10', '60000'])('--port-offset "%s" is refused', async (value) => {
  const { exitCode, said } = await startIn(projectRoot, [`--port-offset=${value}`]);
  expect(exitCode).toBe(2);
  expect(said).toContain(`argument '${value}' is invalid. Give a number up to `);
});

it('an unknown option is refused', async () => {
  expect(await startIn(projectRoot, ['--nonsense'])).toEqual({
    exitCode: 2,
    said: "error: unknown option '--nonsense'",
  });
});

it('an unknown environment is refused, with those that there are', async () => {
  await keepStacksIn(join(folder(), 'state'));
  const args = ['--environment', 'mars', '--state', join(folder(), 'state')];
  const { exitCode, said } = await startIn(projectRoot, args);
  expect(exitCode).toBe(2);
  expect(said).toContain(
    `There is no environment "mars". Choose of: ${environments.map(({ name }) => name).join(', ')}.`,
  );
}, 60_000);

it.each([
  [{ npm_config_port_offset: 'true' }, ['3000'], '--port-offset 3000'],
  [{ npm_config_fresh: 'true' }, [], '--fresh'],
])('options that npm took for its own (%j %j) are told how to type', async (variables, args, typed) => {
  const { exitCode, said } = await startIn(projectRoot, args, variables);
  expect(exitCode).toBe(2);
  expect(said).toContain(`npm start -- ${typed}`);
});

it.each([
  ['18.20.8', 'warning: this is Node.js 18.20.8; 20.19 or newer is needed. '],
  ['20.18.3', 'warning: this is Node.js 20.18.3; '],
  ['20.19.0', ''],
  ['22.0.0', ''],
])('on Node.js %s it says: "%s"', (version, warning) => {
  expect(warningOf(version).startsWith(warning)).toBe(true);
  expect(warningOf(version) === '').toBe(warning === '');
});

it('says that it starts before it loads what takes long', async () => {
  const preload = join(folder(), 'preload.cjs');
  await writeFile(
    preload,
    `process.stderr.write = (line) => {
      const loaded = Object.keys(require.cache);
      require('node:fs').writeSync(1, JSON.stringify({ line, loaded }));
      process.exit();
    };`,
  );
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--require', preload, '--require', 'tsx/cjs', 'bin/local.ts', '--state', join(folder(), 'state')],
    { cwd: projectRoot },
  );
  const { line, loaded } = JSON.parse(stdout) as { line: string; loaded: readonly string[] };
  expect(line).toBe('Starting…\n');
  const ours = loaded
    .map((file) => relative(projectRoot, file))
    .filter((file) => /^(?!node_modules).*\.ts$/.test(file));
  expect(ours.sort()).toEqual([
    'bin/local.ts',
    'bin/node-version.ts',
    'bin/uncaught.ts',
    'domain/printable.ts',
  ]);
  expect(loaded.filter((file) => /node_modules\/(?!tsx\/|esbuild\/|get-tsconfig\/)/.test(file))).toEqual([]);
});
