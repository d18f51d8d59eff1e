import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { warningOf } from '../../bin/node-version';
import { environments } from '../../lib/environments';
import { banner } from '../../local/banner';
import { type CommandContext, runLocalCommand } from '../../local/command';
import type { LocalOptions } from '../../local/start';
import { startHttpServer } from '../support/http-server';
import { prepareAssembly } from '../support/prepared-state';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';

/** What is watched, with the options. */
const mockWatched: object[] = [];
jest.mock('../../local/watch', () => ({ watchSources: (options: object) => mockWatched.push(options) }));

const folder = temporaryFolder();
const state = () => join(folder(), 'state');

async function start(args: string[], variables = {}, context: Partial<CommandContext> = {}) {
  const said: string[] = [];
  const exitCode = await runLocalCommand(args, {
    print: (text) => said.push(text),
    note: (text) => said.push(text),
    projectRoot: resolve(__dirname, '../..'),
    variables,
    environmentNames: () => environments.map(({ name }) => name),
    ...{ onSignal: () => undefined, onUncaught: () => undefined, exit: () => undefined, ...context },
  });
  return { exitCode, said: said.join('\n') };
}

it.each([
  [['--port-offset='], {}, "argument '' is invalid. Expected a number up to 57425"],
  [['--port-offset=60000'], {}, "argument '60000' is invalid."],
  [['--nonsense'], {}, "error: unknown option '--nonsense'"],
  [['--state', '/proc/nowhere/state'], {}, 'Choose another state folder with --state DIR.'],
  [['--environment', 'mars'], {}, `argument 'mars' is invalid. Choose from ${first.name}, `],
  // npm consumed an option.
  [['3000'], { npm_config_port_offset: 'true' }, 'npm start -- --port-offset 3000'],
  [[], { npm_config_fresh: 'true' }, 'npm start -- --fresh'],
  [
    [first.name, '3000'],
    { npm_config_port_offset: 'true', npm_config_environment: 'true' },
    `npm start -- --environment ${first.name} --port-offset 3000`,
  ],
])('refuses %j with the variables %j', async (args, variables, message) => {
  const { exitCode, said } = await start(args, variables);
  expect(exitCode).toBe(2);
  expect(said).toContain(message);
});

it('--help shows defaults as a person writes them', async () => {
  const { exitCode, said } = await start(['--help']);
  expect(exitCode).toBe(0);
  expect(said).toContain('(default: 0)');
});

it('refuses a port in use, with the remedy', async () => {
  await prepareAssembly(state());
  const other = await startHttpServer(() => undefined);
  const offset = `--port-offset=${other.port - 8_001}`;
  const taken = await start(['--environment', first.name, '--state', state(), offset]);
  await other.stop();
  expect(taken.exitCode).toBe(1);
  expect(taken.said).toMatch(new RegExp(`Port ${other.port} is in use.*--port-offset \\d+`, 's'));
});

describe('with environments that run', () => {
  let startLocal: (options: LocalOptions) => Promise<unknown>;
  beforeAll(() => {
    jest.doMock('../../local/start', () => ({ startLocal: (options: LocalOptions) => startLocal(options) }));
  });
  afterAll(() => jest.dontMock('../../local/start'));

  /** Starts with environments that do nothing. */
  async function startIdle(
    local: object,
    whenStarted: (options: LocalOptions) => void,
    context = {},
    args: string[] = [],
  ) {
    await prepareAssembly(state());
    // A state that has environments needs no new cluster.
    mkdirSync(join(state(), 'environments'), { recursive: true });
    startLocal = async (options) => {
      setImmediate(() => whenStarted(options));
      return {
        environments: [],
        stop: async () => undefined,
        invoke: () => Promise.reject(new Error()),
        ...local,
      };
    };
    return start(['--state', state(), ...args], {}, context);
  }

  it('ends with 1 on a failure, on an error that nothing catches, and if it cannot stop; unlocks the state', async () => {
    const failed = await startIdle({}, ({ onFailure }) => onFailure?.(new Error('PostgreSQL exited.')));
    expect(failed).toMatchObject({ exitCode: 1, said: expect.stringContaining('error: PostgreSQL exited.') });

    let fail: (error: Error) => void = () => undefined;
    const stop = () => Promise.reject(new Error('Cannot save.'));
    const onUncaught = (listener: typeof fail) => (fail = listener);
    const uncaught = await startIdle({ stop }, () => fail(new TypeError('a bug')), { onUncaught });
    expect(uncaught.exitCode).toBe(1);
    expect(uncaught.said).toMatch(/error: TypeError: a bug\n +at .*\nerror: Cannot save\./s);
    expect(readdirSync(state())).not.toContain('lock');
  });

  it('says that its state folder was deleted, and creates none', async () => {
    const lost = await startIdle({}, () => rmSync(state(), { recursive: true }));
    expect(lost.exitCode).toBe(1);
    expect(lost.said).toContain(`error: ${state()} was deleted while the environments ran`);
    expect(existsSync(state())).toBe(false);
  });

  it('watches the sources with --watch, until it ends', async () => {
    const fail = ({ onFailure }: LocalOptions) => onFailure?.(new Error('End.'));
    for (const args of [[], ['--watch']]) await startIdle({}, fail, {}, args);
    expect(mockWatched).toMatchObject([{ assembly: join(state(), 'cdk.out'), signal: { aborted: true } }]);
  });

  it('exits at once on a second Ctrl-C, not on the copy of the first that npm sends', async () => {
    let interrupt = () => undefined as unknown;
    let stopped: () => void = () => undefined;
    const stop = () => new Promise<void>((resolve) => (stopped = resolve));
    const exits: number[] = [];
    const now = jest.spyOn(performance, 'now');
    const running = startIdle(
      { stop },
      () => {
        for (const at of [10_000, 10_100, 11_000]) {
          now.mockReturnValue(at);
          interrupt();
        }
        setImmediate(() => stopped());
      },
      {
        onSignal: (listener: () => void) => (interrupt = listener),
        exit: (code: number) => exits.push(code),
      },
    );
    expect((await running).exitCode).toBe(0);
    now.mockRestore();
    expect(exits).toEqual([1]);
  });
});

it('lists the running environments within 80 columns', () => {
  const running = environments.map(({ name: environment, region }) => ({
    stack: { environment, region },
    outputs: { ApiBaseUrl: 'http://127.0.0.1:65535', DashboardUrl: 'http://127.0.0.1:65535' },
  }));
  const options = { outputsFile: '/o.json', logsDirectory: '/logs', projectRoot: '/', sample: undefined };
  const [, table = ''] =
    banner({ ...options, running, ports: 'any' })
      .split('\n\n', 1)[0]
      ?.split(/^\n/) ?? [];
  expect(table.split('\n')).toHaveLength(environments.length + 1);
  for (const line of table.split('\n')) expect(line).toMatch(/^\S+ +\S+ +\S+ +\S+(?<=^.{0,80})$/);
});

it('warns on a Node.js that is too old', () => {
  expect(warningOf('20.18.3')).toMatch(/^warning: this is Node\.js 20\.18\.3; 20\.19 or newer is needed\./);
  expect(warningOf('20.19.0')).toBe('');
});
