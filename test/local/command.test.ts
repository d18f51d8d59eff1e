import fs, { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { environments } from '../../lib/environments';
import { type CommandContext, runLocalCommand } from '../../local/command';
import type { LocalOptions } from '../../local/start';
import { startHttpServer } from '../support/http-server';
import { prepareAssembly } from '../support/prepared-state';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';

const mockWatch = jest.fn();
const mockStart = jest.fn();
jest.mock('../../local/watch', () => ({ watchSources: (options: object) => mockWatch(options) }));
jest.mock('../../local/start', () => ({ startLocal: (options: LocalOptions) => mockStart(options) }));

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

/** npm consumes these options without `--` before them. */
const consumed = { npm_config_port_offset: 'true', npm_config_environment: 'true' };

it.each([
  [['--port-offset='], {}, "argument '' is invalid. Expected a number up to 57425"],
  [['--nonsense'], {}, "error: unknown option '--nonsense'"],
  [['--state', '/proc/nowhere/state'], {}, 'Choose another state folder with --state DIR.'],
  [['--environment', 'mars'], {}, `argument 'mars' is invalid. Choose from ${first.name}, `],
  [
    [first.name, '3000'],
    consumed,
    'npm took --environment and --port-offset as its own. Put -- before the options: npm start -- …',
  ],
])('refuses %j with the variables %j', async (args, variables, message) => {
  const { exitCode, said } = await start(args, variables);
  expect(exitCode).toBe(2);
  expect(said).toContain(message);
});

it.each([
  ['before it synthesizes', false],
  ['without a synthesis', true],
])('refuses a port in use, with the remedy, %s', async (_, isSynthesized) => {
  if (isSynthesized) await prepareAssembly(state());
  mockStart.mockImplementation(jest.requireActual('../../local/start').startLocal);
  const other = await startHttpServer(() => undefined);
  const offset = `--port-offset=${other.port - 8_001}`;
  const { exitCode, said } = await start(['--environment', first.name, '--state', state(), offset]);
  await other.stop();
  expect(exitCode).toBe(1);
  expect(said).toMatch(new RegExp(`Port ${other.port} is in use.*--port-offset \\d+`, 's'));
  expect(said).not.toContain('Synthesized');
});

it.each([
  [299, 'needs 300 MB'],
  [300, undefined],
])('with %d MB of free space: %s', async (free, problem) => {
  const statfs = jest
    .spyOn(fs, 'statfsSync')
    .mockReturnValue({ bavail: free * 1_000, bsize: 1_000 } as never);
  mockStart.mockRejectedValue(new Error('The space was enough.'));
  await prepareAssembly(state());
  const { exitCode, said } = await start(['--state', state()]);
  statfs.mockRestore();
  expect(exitCode).toBe(1);
  expect(said).toMatch(
    problem ? `${state()} has ${free} MB of free space, and a start ${problem}` : /The space was enough/,
  );
});

/** Starts with environments that do nothing. */
async function startIdle(whenStarted: (options: LocalOptions) => void, context = {}, ...args: string[]) {
  await prepareAssembly(state());
  // A state that has environments needs no new cluster.
  mkdirSync(join(state(), 'environments'), { recursive: true });
  mockStart.mockImplementation(async (options) => {
    setImmediate(() => whenStarted(options));
    const invoke = () => Promise.reject(new Error());
    return { environments: () => [], invoke, stop: () => Promise.reject(new Error('Cannot save.')) };
  });
  return start(['--state', state(), ...args], {}, context);
}

it('ends with 1 on a failure, on an error that nothing catches, and if it cannot stop; unlocks the state', async () => {
  const failed = await startIdle(({ onFailure }) => onFailure?.(new Error('PostgreSQL exited.')));
  expect(failed).toMatchObject({ exitCode: 1, said: expect.stringContaining('error: PostgreSQL exited.') });

  let fail: (error: Error) => void = () => undefined;
  const onUncaught = (listener: typeof fail) => (fail = listener);
  const uncaught = await startIdle(() => fail(new TypeError('a bug')), { onUncaught });
  expect(uncaught.exitCode).toBe(1);
  expect(uncaught.said).toMatch(/error: TypeError: a bug\n +at .*\nerror: Cannot save\./s);
  expect(readdirSync(state())).not.toContain('lock');
});

it('says that its state folder was deleted, and creates none', async () => {
  const { exitCode, said } = await startIdle(() => rmSync(state(), { recursive: true }));
  expect(exitCode).toBe(1);
  expect(said).toContain(`error: ${state()} was deleted while the environments ran`);
  expect(existsSync(state())).toBe(false);
});

it('watches the sources with --watch, until it ends', async () => {
  for (const args of [[], ['--watch']])
    await startIdle(({ onFailure }) => onFailure?.(new Error('End.')), {}, ...args);
  expect(mockWatch.mock.calls).toMatchObject([
    [{ assembly: join(state(), 'cdk.out'), signal: { aborted: true } }],
  ]);
});

it('exits at once on a second Ctrl-C, not on the copy of the first that npm sends', async () => {
  let interrupt = () => undefined as unknown;
  const onSignal = (listener: () => void) => (interrupt = listener);
  const exit = jest.fn();
  const now = jest.spyOn(performance, 'now');
  function interruptAt(...times: number[]) {
    for (const time of times) {
      now.mockReturnValue(time);
      interrupt();
    }
  }
  await startIdle(() => interruptAt(10_000, 10_100, 11_000), { onSignal, exit });
  now.mockRestore();
  expect(exit.mock.calls).toEqual([[1]]);
});
