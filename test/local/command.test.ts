import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { warningOf } from '../../bin/node-version';
import { createTerminal } from '../../cli/terminal';
import { environments } from '../../lib/environments';
import { runLocalCommand } from '../../local/command';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';

const projectRoot = resolve(__dirname, '../..');
const folder = temporaryFolder();

async function startIn(project: string, ...args: string[]) {
  let said = '';
  const output = {
    write: (text: string) => {
      said += text;
    },
  };
  const context = {
    terminal: createTerminal(output, output),
    projectRoot: project,
    onSignal: () => undefined,
  };
  return { exitCode: await runLocalCommand(args, context), said };
}

const start = (...args: string[]) => startIn(projectRoot, ...args);

it.each([
  ['', ''],
  ['.', ''],
  ['sub/..', ''],
  ['link', 'link'],
  ['sub', 'sub'],
])('a state in "%s", which holds the project or a part of it, is used wrongly', async (given, refused) => {
  const project = folder();
  mkdirSync(join(project, 'sub'));
  for (const file of ['package.json', 'outputs.json', 'sub/source.ts'])
    writeFileSync(join(project, file), '{}');
  symlinkSync(project, join(project, 'link'));
  const before = readdirSync(project, { recursive: true });
  const { exitCode, said } = await startIn(project, '--state', given);
  expect(exitCode).toBe(2);
  expect(said).toContain(`error: ${join(project, refused)}`);
  expect(said).toContain('Give another folder for the state with --state DIR.');
  expect(readdirSync(project, { recursive: true })).toEqual(before);
});

const names = environments.map(({ name }) => name).join(', ');
it.each([
  ['--port', first.name, `Give it as NAME=PORT, such as ${first.name}=9001.`],
  ['--dashboard-port', `${first.name}=65536`, 'Give it as NAME=PORT'],
  ['--port', 'mars=1', `There is no environment "mars". Choose of: ${names}.`],
  ['--environment', 'mars', 'There is no environment "mars".'],
  ...['', '-1', '1.5', '0x10', '60000'].map((value) => ['--port-offset', value, 'Give a number up to ']),
])('%s=%s is used wrongly, and told', async (option = '', value = '', problem) => {
  const { exitCode, said } = await start(`${option}=${value}`);
  expect(exitCode).toBe(2);
  expect(said).toContain(`argument '${value}' is invalid. ${problem}`);
});

it('an unknown option is used wrongly', async () => {
  expect(await start('--nonsense')).toEqual({ exitCode: 2, said: "error: unknown option '--nonsense'\n" });
});

it('moves every port by the offset, and says by which one all of them would be free', async () => {
  const servers: Server[] = [];
  const listen = async (port: number) => {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };
  try {
    const offset = (await listen(0)) - first.localPort;
    await listen(first.localDashboardPort + offset);
    const state = ['--environment', first.name, '--state', join(folder(), 'taken')];
    const { exitCode, said } = await start(...state, '--port-offset', String(offset));
    expect(exitCode).toBe(1);
    for (const port of [first.localPort, first.localDashboardPort])
      expect(said).toContain(
        `Port ${port + offset} of environment ${first.name} is taken by another program.`,
      );
    const [, hint = ''] =
      /^Or move all ports: npm --prefix .* start -- --port-offset (\d+)$/m.exec(said) ?? [];
    expect((Number(hint) - offset) % 1_000).toBe(0);
    for (const port of [first.localPort, first.localDashboardPort]) await listen(port + Number(hint));
  } finally {
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  }
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
    .filter((file) => /^(bin|cli|lib|local)\//.test(file));
  expect(ours.sort()).toEqual([
    'bin/local.ts',
    'bin/node-version.ts',
    'bin/uncaught.ts',
    'cli/interruption.ts',
    'cli/terminal.ts',
    'lib/environment/invalid-input.ts',
  ]);
  expect(loaded.filter((file) => /node_modules\/(?!tsx\/|esbuild\/|get-tsconfig\/)/.test(file))).toEqual([]);
});
