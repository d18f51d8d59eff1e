import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { warningOf } from '../../bin/node-version';
import { environments } from '../../lib/environments';
import { runLocalCommand } from '../../local/command';
import { startHttpServer } from '../support/http-server';
import { prepareAssembly } from '../support/prepared-state';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const state = () => join(folder(), 'state');

async function start(args: string[], variables = {}) {
  const said: string[] = [];
  const exitCode = await runLocalCommand(args, {
    print: (text) => said.push(text),
    note: (text) => said.push(text),
    projectRoot: resolve(__dirname, '../..'),
    variables,
    onSignal: () => undefined,
  });
  return { exitCode, said: said.join('\n') };
}

it.each([
  [['--port-offset='], {}, "argument '' is invalid. Expected a number up to 57425"],
  [['--port-offset=60000'], {}, "argument '60000' is invalid."],
  [['--nonsense'], {}, "error: unknown option '--nonsense'"],
  [['--state', '/proc/nowhere/state'], {}, 'Choose another state folder with --state DIR.'],
  // npm consumed an option.
  [['3000'], { npm_config_port_offset: 'true' }, 'npm start -- --port-offset 3000'],
  [[], { npm_config_fresh: 'true' }, 'npm start -- --fresh'],
])('refuses %j with the variables %j', async (args, variables, message) => {
  const { exitCode, said } = await start(args, variables);
  expect(exitCode).toBe(2);
  expect(said).toContain(message);
});

it('refuses an unknown environment and a port in use, with the remedy', async () => {
  await prepareAssembly(state());
  const mars = await start(['--environment', 'mars', '--state', state()]);
  const names = environments.map(({ name }) => name).join(', ');
  expect(mars.exitCode).toBe(2);
  expect(mars.said).toContain(`There is no environment "mars". Choose from: ${names}.`);

  const other = await startHttpServer(() => undefined);
  const offset = `--port-offset=${other.port - 8_001}`;
  const taken = await start(['--environment', first.name, '--state', state(), offset]);
  await other.stop();
  expect(taken.exitCode).toBe(1);
  expect(taken.said).toMatch(new RegExp(`Port ${other.port} is in use.*--port-offset \\d+`, 's'));
}, 60_000);

it('exits with 1 when a PostgreSQL exits unexpectedly, and prints the path of its log', async () => {
  await prepareAssembly(state());
  // A state that has environments needs no new cluster.
  mkdirSync(join(state(), 'environments'));
  const reason = 'PostgreSQL of eu exited unexpectedly. Log: /x/postgresql.log';
  const local = {
    ...{ environments: [], failure: Promise.resolve(reason), stop: () => undefined },
    invoke: () => Promise.reject(new Error()),
  };
  jest.doMock('../../local/start', () => ({ startLocal: async () => local }));
  const { exitCode, said } = await start(['--state', state()]);
  jest.dontMock('../../local/start');
  expect(exitCode).toBe(1);
  expect(said).toContain(`error: ${reason}`);
}, 60_000);

it('warns on a Node.js that is too old', () => {
  expect(warningOf('20.18.3')).toMatch(/^warning: this is Node\.js 20\.18\.3; 20\.19 or newer is needed\./);
  expect(warningOf('20.19.0')).toBe('');
});
