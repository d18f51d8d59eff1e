import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { provideAssembly } from './assembly/assembly-cache';
import { banner, type SampleData } from './banner';
import { allSettledOrThrow } from './cleanup';
import { highestOffset, type Ports } from './ports';
import { removePostgres } from './postgres/postgres';
import { prepareCluster } from './restore';
import { type Local, startLocal } from './start';
import { openState, StartError, type State, type StateFolder } from './state';

export interface CommandContext {
  /** Results. */
  print(text: string): void;
  /** Steps and problems. */
  note(text: string): void;
  /** The folder of `package.json`. */
  readonly projectRoot: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Registers a listener for the signals that end the command. */
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
 * @returns the exit code: 0 (stopped by a signal), 1 (it failed), 2 (used wrongly)
 */
export async function runLocalCommand(args: readonly string[], context: CommandContext): Promise<number> {
  let exitCode = 0;
  const program = new Command('npm start --')
    .description('Runs the environments on this machine, from the templates of their stacks, until Ctrl-C.')
    .option(
      '--environment <name>',
      'run only this one (may be given again), with its usual ports',
      (name, earlier: readonly string[] = []) => [...earlier, name],
    )
    .option(
      '--port-offset <number>',
      'add this to the ports 8001 (first API) and 8101 (first dashboard) and on; any: take free ports',
      readOffset,
      { offset: 0 },
    )
    .option('--state <folder>', 'a folder for data, logs and addresses alone (default: .local)')
    .option('--fresh', 'remove the data of earlier runs first, and synthesize the stacks anew')
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.note(text.trimEnd()),
    })
    .exitOverride()
    .action(async (options: Options) => {
      exitCode = await run(options, context);
    });
  // Without `--` before them, npm takes options for its own and hands on their values alone.
  const taken = program.options.filter(
    ({ long }) => context.variables[`npm_config_${long?.slice(2).replaceAll('-', '_')}`],
  );
  if (taken.length > 0) {
    const typed = [...taken.map(({ long }) => long), ...args].join(' ');
    context.note(`error: npm took options for its own. Put -- before them: npm start -- ${typed}`);
    return 2;
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

function readOffset(text: string): Ports {
  if (text === 'any') return 'any';
  if (/^\d{1,5}$/.test(text) && Number(text) <= highestOffset) return { offset: Number(text) };
  throw new InvalidArgumentError(`Give a number up to ${highestOffset}, such as 1000, or any.`);
}

async function run(options: Options, context: CommandContext): Promise<number> {
  const { print, note, projectRoot, onSignal } = context;
  // Since the process began: loading counts.
  const step = (line: string) => note(`${(performance.now() / 1_000).toFixed(1).padStart(4)} s  ${line}`);
  const interruption = new AbortController();
  const interrupted = new Promise<undefined>((resolve) => {
    onSignal(() => {
      if (!interruption.signal.aborted) note('Stopping…');
      interruption.abort();
      resolve(undefined);
    });
  });
  let state: State | undefined;
  let local: Local | undefined;
  try {
    state = openState(resolve(projectRoot, options.state ?? '.local'));
    if (options.fresh) await removeData(state, options.environment);
    const { assemblyDirectory } = state;
    const force = options.fresh ?? false;
    await allSettledOrThrow([
      provideAssembly({
        ...{ directory: assemblyDirectory, force },
        signal: interruption.signal,
        onStep: step,
      }),
      prepareCluster(state),
    ]);
    local = await startLocal({
      assembly: assemblyDirectory,
      state,
      ports: options.portOffset,
      ...(options.environment && { environments: options.environment }),
      log: { step, problem: note },
    });
    if (!interruption.signal.aborted) {
      const sample = await makeSampleData(local).catch((error: Error) => note(error.message));
      step('ready');
      const { logsDirectory, outputsFile } = state;
      const running = local.environments;
      print(banner({ running, sample: sample ?? undefined, logsDirectory, outputsFile, projectRoot }));
    }
    const failure = await Promise.race([interrupted, local.failure]);
    if (failure) throw new StartError(failure);
    return 0;
  } catch (error) {
    if (interruption.signal.aborted) return 0;
    note(`error: ${describe(error)}`);
    return error instanceof StartError ? error.exitCode : 1;
  } finally {
    await local?.stop();
    state?.close();
    if (interruption.signal.aborted) note('Stopped.');
  }
}

/** Of bugs, which alone are errors of the language, the stack is needed. */
function describe(error: unknown): string {
  const isBug = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
  return error instanceof Error ? (isBug && error.stack) || error.message : String(error);
}

/** Removes what environments keep between runs. @param chosen names. @default - all */
export async function removeData(state: StateFolder, chosen?: readonly string[]): Promise<void> {
  const names = chosen ?? namesIn(state.environmentsDirectory);
  for (const name of names) {
    const { directory, logsDirectory } = state.environment(name);
    const databases = namesIn(directory).filter((each) => each.startsWith('postgres'));
    await Promise.all(databases.map((each) => removePostgres(join(directory, each))));
    rmSync(directory, { recursive: true, force: true });
    rmSync(logsDirectory, { recursive: true, force: true });
  }
  for (const folder of chosen ? [] : [state.environmentsDirectory, state.emptyClusterDirectory]) {
    rmSync(folder, { recursive: true, force: true });
  }
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

/** Makes an organization with a user group to delete, as the command line's `seed` does. */
async function makeSampleData({ environments, invoke }: Local): Promise<SampleData> {
  const functionName = String(environments[0]?.outputs.OperationsFunctionName);
  const input = { userGroupName: 'SampleData' };
  const invoked = await invoke(functionName, { operation: 'seed', input });
  const answer = (invoked.ok ? invoked.payload : { error: { message: invoked.errorMessage } }) as {
    readonly result?: SampleData;
    readonly error?: { readonly message: string };
  };
  if (answer.result) return answer.result;
  throw new Error(`The sample user group could not be made: ${answer.error?.message}`);
}
