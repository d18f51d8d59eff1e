import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { warningOf } from '../../bin/node-version';
import { environments } from '../../lib/environments';
import { runLocalCommand } from '../../local/command';
import { startHttpServer } from '../support/http-server';
import { prepareAssembly } from '../support/prepared-state';
import { first } from '../support/rows';
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

it('refuses a state folder that contains project files', async () => {
  writeFileSync(join(folder(), 'package.json'), '{}');
  const { exitCode, said } = await startIn(folder(), ['--state', '']);
  expect(exitCode).toBe(2);
  expect(said).toContain('Choose another state folder with --state DIR.');
  expect(readdirSync(folder())).toEqual(['package.json']);
});

it.each([
  [['--port-offset='], "argument '' is invalid. Expected a number up to 57425"],
  [['--port-offset=60000'], "argument '60000' is invalid."],
  [['--nonsense'], "error: unknown option '--nonsense'"],
  [['--state', '/proc/nowhere/state'], 'Choose another state folder with --state DIR.'],
])('refuses %j', async (args, message) => {
  const { exitCode, said } = await startIn(projectRoot, args);
  expect(exitCode).toBe(2);
  expect(said).toContain(message);
});

it('refuses an unknown environment and a port in use, with the remedy', async () => {
  const state = join(folder(), 'state');
  await prepareAssembly(state);
  const mars = await startIn(projectRoot, ['--environment', 'mars', '--state', state]);
  const names = environments.map(({ name }) => name).join(', ');
  expect(mars.exitCode).toBe(2);
  expect(mars.said).toContain(`There is no environment "mars". Choose from: ${names}.`);

  const other = await startHttpServer(() => undefined);
  const offset = `--port-offset=${other.port - 8_001}`;
  const taken = await startIn(projectRoot, ['--environment', first.name, '--state', state, offset]);
  await other.stop();
  expect(taken.exitCode).toBe(1);
  expect(taken.said).toMatch(new RegExp(`Port ${other.port} is in use.*--port-offset \\d+`, 's'));
}, 60_000);

it('exits with 1 when a PostgreSQL exits unexpectedly, and prints the path of its log', async () => {
  const state = join(folder(), 'state');
  await prepareAssembly(state);
  // A state that has environments needs no new cluster.
  mkdirSync(join(state, 'environments'), { recursive: true });
  const failure = Promise.resolve('PostgreSQL of eu exited unexpectedly. Log: /x/postgresql.log');
  const local = {
    environments: [],
    failure,
    invoke: () => Promise.reject(new Error()),
    stop: () => undefined,
  };
  jest.doMock('../../local/start', () => ({ startLocal: async () => local }));
  const { exitCode, said } = await startIn(projectRoot, ['--state', state]);
  jest.dontMock('../../local/start');
  expect(exitCode).toBe(1);
  expect(said).toContain('error: PostgreSQL of eu exited unexpectedly. Log: /x/postgresql.log');
}, 60_000);

it.each([
  [{ npm_config_port_offset: 'true' }, ['3000'], '--port-offset 3000'],
  [{ npm_config_fresh: 'true' }, [], '--fresh'],
])('prints the correct command when npm consumed options (%j %j)', async (variables, args, typed) => {
  const { exitCode, said } = await startIn(projectRoot, args, variables);
  expect(exitCode).toBe(2);
  expect(said).toContain(`npm start -- ${typed}`);
});

it.each([
  ['20.18.3', 'warning: this is Node.js 20.18.3; 20.19 or newer is needed. '],
  ['20.19.0', ''],
])('on Node.js %s the warning is "%s"', (version, warning) => {
  expect(warningOf(version).startsWith(warning)).toBe(true);
  expect(warningOf(version) === '').toBe(warning === '');
});

it('prints its first line before it loads anything large', async () => {
  const preload = join(folder(), 'preload.cjs');
  writeFileSync(
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
  const others = loaded.filter(
    (file) => !/node_modules\/(tsx|esbuild|get-tsconfig)\/|\.cjs$|package\.json$/.test(file),
  );
  expect(others.map((file) => relative(projectRoot, file)).sort()).toEqual([
    'bin/local.ts',
    'bin/node-version.ts',
    'bin/uncaught.ts',
    'domain/printable.ts',
  ]);
});
