import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { Seeded } from '../domain/operations';
import { takenByNpm } from '../domain/shell';
import { provideAssembly } from './assembly/cache';
import { banner } from './banner';
import { isNew } from './database-folder';
import { removePostgres } from './postgres/postgres';
import { Cleanup } from './shared/cleanup';
import { highestOffset, type Ports, requireFreePorts } from './shared/ports';
import { StartError } from './shared/start-error';
import type * as start from './start';
import { openState } from './state/lock';
import type { StateFolder } from './state/paths';

export interface CommandContext {
  /** Results. */
  print(text: string): void;
  /** Progress and errors. */
  note(text: string): void;
  /** The folder of `package.json`. */
  readonly projectRoot: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Reads the table of environments: the assembly has the names too, but may not be synthesized yet. */
  environmentNames(): readonly string[];
  /** Registers a listener for SIGINT, SIGTERM and SIGHUP. */
  onSignal(listener: () => void): void;
  /** Registers the listener for errors that nothing catches: PostgreSQL must not be left running. */
  onUncaught(listener: (error: Error) => void): void;
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
      'run only this environment (repeatable), on its usual ports (default: all)',
      (name, earlier: readonly string[] = []) => {
        const names = context.environmentNames();
        if (names.includes(name)) return [...earlier, name];
        throw new InvalidArgumentError(`Choose from ${names.join(', ')}.`);
      },
    )
    .addOption(
      new Option(
        '--port-offset <number>',
        'add this to all ports, which start at 8001 (APIs), 8010 (local receive) and 8101 (dashboards); any: use free ports',
      )
        .argParser(readOffset)
        .default({ offset: 0 }, '0'),
    )
    .option(
      '--state <folder>',
      'folder for data, logs and addresses; must contain nothing else (default: .local)',
    )
    .option('--fresh', 'delete stored data and synthesized stacks first')
    .addOption(new Option('--watch').hideHelp())
    .configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: (text) => note(text.trimEnd()) })
    .exitOverride();
  try {
    const taken = takenByNpm(program.options, variables);
    if (taken)
      program.error(`error: npm took ${taken} as its own. Put -- before the options: npm start -- …`);
    program.parse(args, { from: 'user' });
    if (program.opts().watch) program.error('error: --watch is a script of its own now: npm run watch');
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

/** The reason of an abort that is no failure. */
const interrupted = Symbol('interrupted');

async function run(options: Options, context: CommandContext): Promise<number> {
  const { note } = context;
  const cleanup = new Cleanup();
  const causes: unknown[] = [];
  for (const work of [() => runUntilAborted(options, context, cleanup), () => cleanup.run()]) {
    await work().catch((cause) => causes.push(...(cause instanceof AggregateError ? cause.errors : [cause])));
  }
  const failures = causes.filter((cause) => cause !== interrupted);
  for (const failure of failures) note(`error: ${textOf(failure)}`);
  if (failures.length === 0) note('Stopped.');
  return Math.min(failures.length, 1);
}

/** @throws (rejects) always: the first failure, or `interrupted` */
async function runUntilAborted(options: Options, context: CommandContext, cleanup: Cleanup): Promise<void> {
  const { print, note, projectRoot, onSignal, onUncaught } = context;
  // Since process start, to include loading.
  const step = (line: string) => note(`${(performance.now() / 1_000).toFixed(1).padStart(4)} s  ${line}`);
  const state = openState(resolve(projectRoot, options.state ?? '.local'), note);
  cleanup.add(() => state.close());
  const ending = new AbortController();
  onSignal(() => {
    if (!ending.signal.aborted) note('Stopping…');
    ending.abort(interrupted);
  });
  // The first failure ends the rest at once.
  const fail = (error: Error) => ending.abort(error);
  onUncaught(fail);
  const { signal } = ending;
  const { assemblyDirectory: assembly, outputsFile, logsDirectory } = state;
  const { environment: environments, portOffset: ports } = options;
  const log = { step, problem: note };
  try {
    if (options.fresh) await removeData(state, signal, environments);
    requireSpace(state);
    const onSynthesis = () => {
      step('Synthesizing the stacks');
      requireFreePorts(context.environmentNames, ports, environments).catch(fail);
    };
    const prepared = provideAssembly({ directory: assembly, signal, onSynthesis });
    prepared.catch(fail);
    // Loaded, and its services started, while another process synthesizes the stacks.
    const { startLocal } = require('./start') as typeof start;
    const local = await startLocal({
      assembly,
      prepared,
      expected: context.environmentNames,
      state,
      ports,
      ending,
      log,
      ...(environments && { environments }),
    });
    cleanup.add(() => local.stop());
    const sample = await createSampleData(local);
    signal.throwIfAborted();
    step('ready');
    print(banner({ running: local.environments, sample, outputsFile, logsDirectory, projectRoot, ports }));
    await once(signal, 'abort');
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw signal.reason;
}

/** JavaScript's own errors are bugs, which need a stack trace. */
function textOf(failure: unknown): string {
  const { message, stack } = failure as Error;
  const isBug = [TypeError, ReferenceError, RangeError].some((type) => failure instanceof type);
  return String(isBug ? stack : message);
}

/** @throws StartError if the disk is nearly full: a start would end in the middle, with an error of whatever wrote last */
function requireSpace(state: StateFolder): void {
  const { directory } = state;
  const { bavail, bsize } = statfsSync(directory);
  const free = Math.floor((bavail * bsize) / 1e6);
  // Three environments and the stacks; later starts write little.
  const needed = isNew(state) ? 300 : 50;
  if (free < needed)
    throw new StartError(
      `${directory} has ${free} MB of free space, and a start needs ${needed} MB. Free some, or use another folder with --state DIR.`,
    );
}

/** Deletes the environments' stored data and the synthesized stacks. @param chosen names. @default - all */
async function removeData(
  state: StateFolder,
  signal: AbortSignal,
  chosen?: readonly string[],
): Promise<void> {
  const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  const folders = [state.assemblyDirectory];
  if (!chosen)
    folders.push(state.environmentsDirectory, state.emptyClusterDirectory, state.certificatesDirectory);
  for (const name of chosen ?? namesIn(state.environmentsDirectory)) {
    const { directory, logsDirectory } = state.environment(name);
    const databases = namesIn(directory).filter((each) => each.startsWith('postgres'));
    await Promise.all(databases.map((each) => removePostgres(join(directory, each), signal)));
    folders.push(directory, logsDirectory);
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** Creates an organization with a user group to delete, like `./wallet seed`. @returns undefined if the function fails, which it logs */
async function createSampleData({ environments, invoke }: start.Local): Promise<Seeded | undefined> {
  const functionName = String(environments[0]?.outputs.OperationsFunctionName);
  const invoked = await invoke(functionName, { operation: 'seed', input: { userGroupName: 'SampleData' } });
  return invoked.ok ? (invoked.payload as { readonly result?: Seeded }).result : undefined;
}
