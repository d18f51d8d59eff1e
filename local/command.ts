import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { Seeded } from '../domain/operations';
import { provideAssembly } from './assembly/cache';
import { banner } from './banner';
import { allSettledOrThrow } from './cleanup';
import { highestOffset, type Ports } from './ports';
import { removePostgres } from './postgres/postgres';
import { prepareCluster } from './restore';
import type * as start from './start';
import { StartError } from './start-error';
import { openState, type State } from './state/lock';
import type { StateFolder } from './state/paths';

export interface CommandContext {
  /** Results. */
  print(text: string): void;
  /** Progress and errors. */
  note(text: string): void;
  /** The folder of `package.json`. */
  readonly projectRoot: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Registers a listener for SIGINT, SIGTERM and SIGHUP. */
  onSignal(listener: () => void): void;
}

interface Options {
  readonly environment?: readonly string[];
  readonly portOffset: Ports;
  readonly state?: string;
  readonly fresh?: true;
}

/**
 * `npm start`: runs environments on this machine until a signal.
 *
 * @returns the exit code: 0 (stopped by a signal), 1 (failed), 2 (usage error)
 */
export async function runLocalCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const { print, note, variables } = context;
  const program = new Command('npm start --')
    .description('Run the environments on this machine from their CloudFormation templates, until Ctrl-C.')
    .option(
      '--environment <name>',
      'run only this environment (repeatable), on its usual ports',
      (name, earlier: readonly string[] = []) => [...earlier, name],
    )
    .option(
      '--port-offset <number>',
      'add this to all ports, which start at 8001 (APIs) and 8101 (dashboards); any: use free ports',
      readOffset,
      { offset: 0 },
    )
    .option(
      '--state <folder>',
      'folder for data, logs and addresses; must contain nothing else (default: .local)',
    )
    .option('--fresh', 'delete stored data and synthesized stacks first')
    .configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: (text) => note(text.trimEnd()) })
    .exitOverride();
  // Without `--`, npm consumes options and passes on only their values.
  const consumed = program.options.flatMap(({ long = '' }) =>
    variables[`npm_config_${long.slice(2).replaceAll('-', '_')}`] ? long : [],
  );
  if (consumed.length > 0) {
    const command = `npm start -- ${[...consumed, ...args].join(' ')}`;
    note(`error: npm consumed the options of this command.\nPut -- before them: ${command}`);
    return 2;
  }
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
  return run(program.opts(), context);
}

function readOffset(text: string): Ports {
  if (text === 'any') return 'any';
  if (/^\d{1,5}$/.test(text) && Number(text) <= highestOffset) return { offset: Number(text) };
  throw new InvalidArgumentError(`Expected a number up to ${highestOffset}, such as 1000, or any.`);
}

async function run(
  options: Options,
  { print, note, projectRoot, onSignal }: CommandContext,
): Promise<number> {
  // Since process start, to include loading.
  const step = (line: string) => note(`${(performance.now() / 1_000).toFixed(1).padStart(4)} s  ${line}`);
  const interruption = new AbortController();
  const { signal } = interruption;
  const interrupted = new Promise<undefined>((resolve) => {
    onSignal(() => {
      if (!signal.aborted) note('Stopping…');
      interruption.abort();
      resolve(undefined);
    });
  });
  let state: State | undefined;
  let local: start.Local | undefined;
  try {
    state = openState(resolve(projectRoot, options.state ?? '.local'));
    const { assemblyDirectory: assembly } = state;
    if (options.fresh) await removeData(state, options.environment);
    const prepared = [provideAssembly({ directory: assembly, signal, onStep: step }), prepareCluster(state)];
    // Loaded while another process synthesizes the stacks.
    const { startLocal } = require('./start') as typeof start;
    await allSettledOrThrow(prepared);
    const { environment: environments, portOffset: ports } = options;
    const log = { step, problem: note };
    local = await startLocal({ assembly, state, ports, log, ...(environments && { environments }) });
    if (!signal.aborted) {
      const sample = await createSampleData(local).catch((error: Error) => void note(error.message));
      step('ready');
      print(banner({ running: local.environments, sample, state, projectRoot }));
    }
    const failure = await Promise.race([interrupted, local.failure]);
    if (failure) throw new StartError(failure);
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    const { message, stack } = error as Error;
    // JavaScript's own errors are bugs.
    const isBug = [TypeError, ReferenceError, RangeError].some((type) => error instanceof type);
    note(`error: ${isBug ? stack : message}`);
    return error instanceof StartError ? error.exitCode : 1;
  } finally {
    await local?.stop();
    state?.close();
    if (signal.aborted) note('Stopped.');
  }
}

/** Deletes the environments' stored data and the synthesized stacks. @param chosen names. @default - all */
export async function removeData(state: StateFolder, chosen?: readonly string[]): Promise<void> {
  const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  const folders = [state.assemblyDirectory];
  if (!chosen) folders.push(state.environmentsDirectory, state.emptyClusterDirectory);
  for (const name of chosen ?? namesIn(state.environmentsDirectory)) {
    const { directory, logsDirectory } = state.environment(name);
    const databases = namesIn(directory).filter((each) => each.startsWith('postgres'));
    await Promise.all(databases.map((each) => removePostgres(join(directory, each))));
    folders.push(directory, logsDirectory);
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** Creates an organization with a user group to delete, like `./wallet seed`. */
async function createSampleData({ environments, invoke }: start.Local): Promise<Seeded> {
  const functionName = String(environments[0]?.outputs.OperationsFunctionName);
  const invoked = await invoke(functionName, { operation: 'seed', input: { userGroupName: 'SampleData' } });
  const { result, error } = (invoked.ok ? invoked.payload : { error: { message: invoked.errorMessage } }) as {
    readonly result?: Seeded;
    readonly error?: { readonly message: string };
  };
  if (result) return result;
  throw new Error(`Cannot create the sample user group: ${error?.message}`);
}
