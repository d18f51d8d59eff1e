import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Cleanup } from '../../../local/cleanup';
import { removePostgres } from '../../../local/postgres/postgres';
import { stateFolder } from '../../../local/state';
import { startLocalCommandIn } from '../../support/local-command';
import { type NodeProcess, startNodeIn } from '../../support/node-process';
import { temporaryFolder } from './temporary-folder';

/** This project. */
export const projectRoot = resolve(__dirname, '../../..');

/** What a copy of the project has no use for. */
const leftOut = new Set(['node_modules', '.git', '.local', 'cdk.out', 'docs']);

/** A copy of the project without its packages, which `cleanup` removes. */
export async function copyProject(cleanup: Cleanup): Promise<string> {
  const directory = await temporaryFolder(cleanup);
  // Open to the account of PostgreSQL, which may run from it.
  await chmod(directory, 0o755);
  await cp(projectRoot, directory, { recursive: true, filter: (path) => !leftOut.has(basename(path)) });
  return directory;
}

/** The project in some folder, at some commit, with its packages; its environments run on a state folder. */
export interface RunningProject {
  /** The names of its environments. */
  readonly environments: readonly string[];
  /** The local endpoint of SQS. */
  readonly sqs: string;
  /** A stack's outputs, by the environment's name. */
  outputs(environment: string): Readonly<Record<string, string>>;
  /** Runs its command line on an environment and gives stdout. @throws Error with what it wrote when it fails */
  wallet(environment: string, ...args: string[]): Promise<string>;
  /** Runs these of its end-to-end tests on the environments. @throws Error with what failed */
  test(...files: string[]): Promise<void>;
  stop(): Promise<void>;
}

interface ProjectOptions {
  /** The project's folder. */
  readonly directory: string;
  readonly state: string;
  readonly signal: AbortSignal;
}

/** Starts a project's own `npm start` with every row of its table. @throws Error with what it said when it does not become ready */
export async function startProject(cleanup: Cleanup, options: ProjectOptions): Promise<RunningProject> {
  const { directory, state, signal } = options;
  const stacks = await stacksOf(directory);
  const environments = Object.keys(stacks);
  for (const name of environments) {
    cleanup.add(() => removeDatabases(join(state, 'environments', name)));
  }
  signal.throwIfAborted();
  const command = startLocalCommandIn(directory, '--state', state, '--port-offset', 'any');
  const stop = async () => {
    command.process.kill('SIGTERM');
    await command.ended();
  };
  cleanup.add(stop);
  signal.addEventListener('abort', () => void stop());
  await command.ready();

  const outputsFile = stateFolder(state).outputsFile;
  const outputs = JSON.parse(await readFile(outputsFile, 'utf8'));
  const endpoints = JSON.parse(await readFile(stateFolder(state).endpointsFile, 'utf8'));
  return {
    environments,
    sqs: endpoints.sqs,
    outputs: (environment) => outputs[stacks[environment] ?? ''],
    wallet: (environment, ...args) =>
      succeed(directory, [
        ...['--require', 'tsx/cjs', 'bin/wallet.ts', ...args],
        ...['--environment', environment, '--outputs', outputsFile],
      ]),
    test: (...files) => runTests({ directory, state, files, signal }),
    stop,
  };
}

/** From the environments of a project's own table to their stacks. */
async function stacksOf(directory: string): Promise<Record<string, string>> {
  const script = `const { environments } = require('./lib/environments');
    console.log(JSON.stringify(Object.fromEntries(environments.map(({ name, stackId }) => [name, stackId]))));`;
  return JSON.parse(await succeed(directory, ['--require', 'tsx/cjs', '--eval', script]));
}

/** Waits for the end of a process, which the signal brings about. */
export async function endedBy(signal: AbortSignal, node: NodeProcess): ReturnType<NodeProcess['ended']> {
  const end = () => void node.process.kill();
  signal.addEventListener('abort', end);
  return node.ended().finally(() => signal.removeEventListener('abort', end));
}

async function succeed(directory: string, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await startNodeIn(directory, args).ended();
  if (exitCode === 0) return stdout;
  throw new Error(`node ${args.join(' ')} exited with ${exitCode}:\n${stdout}${stderr}`);
}

interface JestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

interface TestsOptions {
  readonly directory: string;
  readonly state: string;
  readonly files: readonly string[];
  readonly signal: AbortSignal;
}

/** Without the setup of these tests, which would start environments of their own. */
async function runTests({ directory, state, files, signal }: TestsOptions): Promise<void> {
  const missing = files.filter((file) => !existsSync(join(directory, file)));
  if (missing.length > 0) throw new Error(`${directory} has no ${missing.join(', ')}.`);
  const folder = await mkdtemp(join(state, 'tests-'));
  const [config, report] = [join(folder, 'jest.config.js'), join(folder, 'report.json')];
  await writeFile(
    config,
    `const { projects, testTimeout } = require(${JSON.stringify(join(directory, 'jest.config.js'))});
    const { globalSetup, globalTeardown, ...own } = projects.find(({ displayName }) => displayName === 'end-to-end');
    module.exports = { ...own, testTimeout, rootDir: ${JSON.stringify(directory)} };`,
  );
  const options = ['--config', config, '--json', '--outputFile', report, '--maxWorkers', '2'];
  const jest = startNodeIn(directory, ['node_modules/jest/bin/jest.js', ...options, ...files], {
    LOCAL_ENVIRONMENT: state,
  });
  const { exitCode, stderr } = await endedBy(signal, jest);
  if (exitCode === 0) return;
  const { testResults } = JSON.parse(
    await readFile(report, 'utf8').catch(() => '{"testResults":[]}'),
  ) as JestReport;
  const failed = testResults.flatMap(({ name, message, assertionResults }) => {
    const tests = assertionResults.filter(({ status }) => status === 'failed');
    return tests.length === 0 && message
      ? [`${name}: ${message}`]
      : tests.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.split('\n')[0]}`);
  });
  throw new Error(failed.join('\n') || stderr);
}

/** All that an environment has, also those that it was restored from: the row may be of another release. */
async function removeDatabases(environmentFolder: string): Promise<void> {
  const names = await readdir(environmentFolder).catch(() => []);
  const databases = names.filter((name) => name.startsWith('postgres'));
  await Promise.all(databases.map((name) => removePostgres(join(environmentFolder, name))));
}
