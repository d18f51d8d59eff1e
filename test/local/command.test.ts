import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { environments } from '../../lib/environments';
import { runLocalCommand } from '../../local/command';
import type { LocalOptions } from '../../local/start';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';

const mockWatch = jest.fn();
const mockStart = jest.fn();
jest.mock('../../local/assembly/cache', () => ({ provideAssembly: async () => undefined }));
jest.mock('../../local/watch', () => ({ watchSources: (options: object) => mockWatch(options) }));
jest.mock('../../local/start', () => ({ startLocal: (options: LocalOptions) => mockStart(options) }));

const folder = temporaryFolder();

async function start(args: string[], variables = {}) {
  const said: string[] = [];
  const exitCode = await runLocalCommand(args, {
    print: (text) => said.push(text),
    note: (text) => said.push(text),
    projectRoot: resolve(__dirname, '../..'),
    variables,
    environmentNames: () => environments.map(({ name }) => name),
    onSignal: () => undefined,
  });
  return { exitCode, said: said.join('\n') };
}

/** npm consumes these options without `--` before them. */
const consumed = { npm_config_port_offset: 'true', npm_config_environment: 'true' };

it.each([
  [['--port-offset='], {}, "argument '' is invalid. Expected a number up to 57425"],
  [['--nonsense'], {}, "error: unknown option '--nonsense'"],
  [['--state', '/dev/null/state'], {}, 'Choose another state folder with --state DIR.'],
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

/** Starts with environments that do nothing, until they fail. */
async function startIdle(...args: string[]) {
  // A state that has environments needs no new cluster.
  mkdirSync(join(folder(), 'state/environments'), { recursive: true });
  writeFileSync(join(folder(), 'state/.wallet-state'), '');
  mockStart.mockImplementation(async ({ ending }: LocalOptions) => {
    setImmediate(() => ending?.abort(new TypeError('a bug')));
    const invoke = async () => ({ ok: false });
    return { environments: () => [], invoke, stop: () => Promise.reject(new Error('Cannot save.')) };
  });
  return start(['--state', join(folder(), 'state'), ...args]);
}

it('ends with 1 on a failure, and if it cannot stop; unlocks the state', async () => {
  const { exitCode, said } = await startIdle();
  expect(exitCode).toBe(1);
  expect(said).toMatch(/error: TypeError: a bug\n +at .*\nerror: Cannot save\./s);
  expect(readdirSync(join(folder(), 'state'))).not.toContain('lock');
  expect(mockWatch).not.toHaveBeenCalled();
});

it('watches the sources with --watch, until it ends', async () => {
  await startIdle('--watch');
  const assembly = join(folder(), 'state/cdk.out');
  expect(mockWatch.mock.calls).toMatchObject([[{ assembly, signal: { aborted: true } }]]);
});
