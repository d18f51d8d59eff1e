import { once } from 'node:events';
import fs, { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runLocalCommand } from '../../local/command';
import { highestOffset, portOf, receiverUrl } from '../../local/shared/ports';
import type { LocalOptions } from '../../local/start';
import { openState } from '../../local/state/lock';
import { scripts } from '../../package.json';
import { startHttpServer } from '../support/http-server';
import { first } from '../support/rows';
import { environments } from '../support/table';
import { temporaryFolder } from '../support/temporary-folder';

const mockStart = jest.fn();
const mockAssembly = jest.fn();
jest.mock('../../local/assembly/cache', () => ({
  provideAssembly: (options: object) => mockAssembly(options),
}));
jest.mock('../../local/start', () => ({ startLocal: (options: LocalOptions) => mockStart(options) }));

const folder = temporaryFolder();
const state = () => join(folder(), 'state');
beforeEach(() => mockAssembly.mockReset().mockResolvedValue(undefined));

async function start(args: string[], variables = {}) {
  const said: string[] = [];
  const exitCode = await runLocalCommand(args, {
    print: (text) => said.push(text),
    note: (text) => said.push(text),
    projectRoot: resolve(__dirname, '../..'),
    variables,
    environmentNames: () => environments.map(({ name }) => name),
    onSignal: () => undefined,
    onUncaught: () => undefined,
  });
  return { exitCode, said: said.join('\n') };
}

/** npm consumes these options without `--` before them. */
const consumed = { npm_config_port_offset: 'true', npm_config_environment: 'true' };
const remedy = 'Put -- before the options: npm start -- …';

it.each([
  [['--port-offset='], {}, "argument '' is invalid. Expected a number up to 57425"],
  [['--nonsense'], {}, "error: unknown option '--nonsense'"],
  [['--watch'], {}, 'error: --watch is a script of its own now: npm run watch'],
  [['--environment', 'mars'], {}, `argument 'mars' is invalid. Choose from ${first.name}, `],
  [[first.name, '3000'], consumed, `npm took --environment and --port-offset as its own. ${remedy}`],
])('refuses %j with the variables %j', async (args, variables, message) => {
  const { exitCode, said } = await start(args, variables);
  expect(exitCode).toBe(2);
  expect(said).toContain(message);
});

/** Starts with environments that do nothing until they fail, and cannot save when they stop. */
async function startIdle(content = `environments/${first.name}/postgres`) {
  mkdirSync(join(state(), content), { recursive: true });
  writeFileSync(join(state(), '.wallet-state'), '');
  mockStart.mockImplementation(async ({ ending }: LocalOptions) => {
    setImmediate(() => ending?.abort(new TypeError('a bug')));
    const invoke = async () => ({ ok: false });
    return { environments: [], invoke, stop: () => Promise.reject(new Error('Cannot save.')) };
  });
  return start(['--state', state()]);
}

it('a failure of an environment stops everything, unlocks the state, and ends with 1', async () => {
  const { exitCode, said } = await startIdle();
  expect(exitCode).toBe(1);
  expect(said).toMatch(/error: TypeError: a bug\n +at .*\nerror: Cannot save\./s);
  openState(state()).close();
});

it("npm run watch follows the stacks' sources, beside the program's own", () => {
  const watched = Array.from(scripts.watch.matchAll(/--include (\S+)/g), ([, path]) => path);
  expect(watched.sort()).toEqual(['dashboard', 'docs/receivers.md', 'domain', 'lambda', 'lib']);
});

it('uses the documented ports, and higher ones', () => {
  expect([portOf('api', 0, { offset: 0 }), portOf('dashboard', 2, { offset: 1_000 })]).toEqual([8001, 9103]);
  expect([portOf('dashboard', 9, { offset: highestOffset }), portOf('api', 1, 'any')]).toEqual([65_535, 0]);
  expect(receiverUrl({ offset: 20 })).toBe('http://127.0.0.1:8030/');
});

it('tells a port in use while it synthesizes', async () => {
  mockAssembly.mockImplementation(async ({ onSynthesis, signal }) => {
    onSynthesis();
    await once(signal, 'abort');
    signal.throwIfAborted();
  });
  mockStart.mockImplementation(({ prepared }) => prepared);
  const other = await startHttpServer(() => undefined);
  const options = ['--environment', first.name, `--port-offset=${other.port - 8_001}`];
  const { exitCode, said } = await start(['--state', state(), ...options]);
  await other.stop();
  expect(exitCode).toBe(1);
  expect(said).toMatch(RegExp(`error: Port ${other.port} is in use.*--port-offset 1000$`, 's'));
});

it.each([
  [49, /has 49 MB of free space, and a start needs 50 MB\. Free some/, undefined],
  [50, /a bug/, undefined],
  // Of a start that was killed before it had a database.
  [299, /a start needs 300 MB/, 'environments'],
])('with %d MB of free space: %s', async (free, said, content) => {
  const statfs = jest.spyOn(fs, 'statfsSync').mockReturnValue({ bavail: free, bsize: 1e6 } as never);
  const started = await startIdle(content);
  statfs.mockRestore();
  expect(started).toEqual({ exitCode: 1, said: expect.stringMatching(said) });
});
