import { resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { Terminal } from '../cli/terminal';
import type { Environment } from '../lib/environment/environment';
import { environments as table } from '../lib/environments';
import { deletionCommand, summary, webhookCommands } from './banner';
import { portTakenDuringStart } from './network/ports';
import type { Region } from './region';
import { createSampleData } from './sample-data';
import { type RunningEnvironments, startEnvironments } from './start';
import { StateFolderRefused } from './state/claim';
import { stateFolder } from './state/state';

export interface CommandContext {
  readonly terminal: Terminal;
  /** The folder of `package.json`. */
  readonly projectRoot: string;
  /** Registers a listener for the signals that end the command. */
  onSignal(listener: () => void): void;
}

interface Options {
  readonly port?: Readonly<Record<string, number>>;
  readonly dashboardPort?: Readonly<Record<string, number>>;
  readonly portOffset?: number;
  readonly state?: string;
  readonly fresh?: true;
  readonly environment?: readonly Environment[];
}

const names = table.map(({ name }) => name).join(', ');
const ports = table.map(({ name, localPort }) => `${name} ${localPort}`).join(', ');
const dashboardPorts = table
  .map(({ name, localDashboardPort }) => `${name} ${localDashboardPort}`)
  .join(', ');

/**
 * `npm start`: runs environments on this machine until a signal. Results go to stdout, steps and problems to stderr.
 *
 * @returns the exit code: 0 (stopped by a signal), 1 (it failed), 2 (used wrongly)
 */
export async function runLocalCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const { terminal } = context;
  let exitCode = 0;
  const program = new Command('npm start --')
    .description('Runs the environments on this machine, from the templates of their stacks, until Ctrl-C.')
    .option('--environment <name>', `run only this one (may be given again): ${names}`, addEnvironment)
    .option(
      '--port <name=port>',
      `another port (may be given again; 0: any free one) than: ${ports}`,
      addPort,
    )
    .option(
      '--dashboard-port <name=port>',
      `another port of the dashboard than: ${dashboardPorts} (with --port: any free one)`,
      addPort,
    )
    .option('--port-offset <number>', 'add this to each of these ports, such as 1000', portOffset)
    .option('--state <folder>', 'a folder for data, logs and addresses alone (default: .local)', (text) =>
      resolve(context.projectRoot, text),
    )
    .option('--fresh', 'remove the data of earlier runs first, and synthesize the stacks anew')
    .configureOutput({
      writeOut: (text) => terminal.result(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
    })
    .exitOverride()
    .action(async (options: Options) => {
      exitCode = await run(options, context);
    });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

async function run(options: Options, { terminal, projectRoot, onSignal }: CommandContext): Promise<number> {
  // Since the process began: loading counts.
  const seconds = () => `${(performance.now() / 1_000).toFixed(1)} s`;
  const interruption = new AbortController();
  const interrupted = new Promise<void>((wanted) => {
    onSignal(() => {
      if (!interruption.signal.aborted) terminal.note('Stopping…');
      interruption.abort();
      wanted();
    });
  });
  const state = stateFolder(options.state ?? resolve(projectRoot, '.local'));
  let running: RunningEnvironments;
  try {
    running = await startEnvironments({
      state,
      environments: options.environment ?? table,
      ports: options.port ?? {},
      dashboardPorts: options.dashboardPort ?? {},
      portOffset: options.portOffset ?? 0,
      fresh: options.fresh ?? false,
      signal: interruption.signal,
      onStep: (step) => terminal.note(`${seconds().padStart(6)}  ${step}`),
      onProblem: (line) => terminal.note(terminal.alarm(line)),
    });
  } catch (error) {
    if (interruption.signal.aborted) {
      terminal.note('Stopped.');
      return 0;
    }
    terminal.note(terminal.alarm(`error: ${describe(portTakenDuringStart(error) ?? error)}`));
    return error instanceof StateFolderRefused ? 2 : 1;
  }
  const sample = await createSampleData(running.regions[0] as Region).catch((error: Error) => {
    terminal.note(terminal.alarm(error.message));
    return undefined;
  });
  terminal.note(`${seconds().padStart(6)}  ready`);
  terminal.result(`\n${summary(running.regions, terminal.bold)}\n`);
  terminal.result(`Logs: ${state.logsDirectory}, a folder for each environment.\n`);
  if (sample) {
    const paths = { projectRoot, outputsFile: state.outputsFile };
    const deletion = deletionCommand(sample, paths);
    terminal.result(`Delete a user group, in another terminal:\n\n${deletion}\n`);
    const { receive, send } = webhookCommands(sample, paths);
    terminal.result(`Receive a webhook, in another terminal:\n\n${receive}\n\nand in a third:\n\n${send}\n`);
  }
  terminal.result('Ctrl-C stops everything.');
  await interrupted;
  await running.stop();
  terminal.note('Stopped.');
  return 0;
}

/** Named errors are explained by their message; others are bugs, and need the stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.constructor === Error || error.name !== 'Error'
    ? error.message
    : (error.stack ?? error.message);
}

function addEnvironment(name: string, earlier: readonly Environment[] = []): readonly Environment[] {
  const environment = known(name);
  return [...earlier.filter((other) => other !== environment), environment];
}

function addPort(text: string, earlier: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, name, digits] = /^([^=]+)=(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (name === undefined || port > 65_535)
    throw new InvalidArgumentError(`Give it as NAME=PORT, such as ${table[0]?.name}=9001.`);
  return { ...earlier, [known(name).name]: port };
}

const highestPort = Math.max(...table.flatMap((row) => [row.localPort, row.localDashboardPort]));

function portOffset(text: string): number {
  if (/^\d{1,5}$/.test(text) && highestPort + Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError(`Give a number up to ${65_535 - highestPort}, such as 1000.`);
}

function known(name: string): Environment {
  const environment = table.find((candidate) => candidate.name === name);
  if (!environment) throw new InvalidArgumentError(`There is no environment "${name}". Choose of: ${names}.`);
  return environment;
}
