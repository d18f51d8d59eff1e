import { mkdirSync, rmSync } from 'node:fs';
import type { Environment } from '../environment';
import { readAssembly, type Stack } from './assembly';
import { localCertificate } from './certificates';
import { Cleanup } from './cleanup';
import { requireFreePorts } from './ports';
import { type Postgres, removePostgres, startPostgres } from './postgres';
import { type Region, startRegion } from './region';
import { startServices } from './services';
import { removeFile, type StateFolder, writeJson } from './state';
import { lockState } from './state-lock';
import { synthesize } from './synthesis';

export interface StartOptions {
  readonly state: StateFolder;
  readonly environments: readonly Environment[];
  /** Ports by environment; 0 takes any free one. @default - the table's own */
  readonly ports: Readonly<Record<string, number>>;
  /** Whether to remove what earlier runs of these environments have left. */
  readonly fresh: boolean;
  /** Gives up starting. */
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
  /** Gets a line about something that went wrong while the environments run. */
  readonly onProblem: (line: string) => void;
}

/** Environments that run on this machine. */
export interface RunningEnvironments {
  readonly regions: readonly Region[];
  /** Ends everything in order; a second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Runs environments on this machine from the templates of their stacks. Nothing is left running when it fails.
 *
 * @throws StateInUse, PortsTaken, SynthesisFailed, CustomResourceFailed, or what kept a part from starting
 */
export async function startEnvironments(options: StartOptions): Promise<RunningEnvironments> {
  const cleanup = new Cleanup();
  try {
    return { regions: await start(options, cleanup), stop: () => cleanup.run() };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function start(options: StartOptions, cleanup: Cleanup): Promise<readonly Region[]> {
  const { state, environments, signal, onStep } = options;
  mkdirSync(state.directory, { recursive: true });
  const lock = lockState(state.directory);
  cleanup.add(async () => lock.release());
  await requireFreePorts(
    environments.map((environment) => ({
      environment: environment.name,
      port: portOf(options, environment),
    })),
  );
  forgetAddresses(state);
  if (options.fresh) await removeData(options);

  const databases = new Map(environments.map(({ name }) => [name, startDatabase(state, name)]));
  cleanup.add(
    async () => void (await Promise.all([...databases.values()].map((database) => stopDatabase(database)))),
  );
  const synthesized = synthesize(state.assemblyDirectory, signal).then(() =>
    onStep('Synthesized the stacks'),
  );
  const [certificate, services] = await Promise.all([
    localCertificate({ directory: state.certificatesDirectory }),
    startServices(cleanup),
    synthesized,
  ]);
  signal.throwIfAborted();

  const stacks = readAssembly(state.assemblyDirectory);
  const starting = environments.map(async (environment) => {
    const region = await startRegion({
      environment,
      stack: stackOf(environment, stacks),
      folder: state.environment(environment.name),
      port: portOf(options, environment),
      postgres: databases.get(environment.name) as Promise<Postgres>,
      certificate,
      services,
      onProblem: options.onProblem,
    });
    onStep(`Started ${environment.name}: ${region.baseUrl}`);
    return region;
  });
  const outcomes = await Promise.allSettled(starting);
  const regions = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  cleanup.add(async () => void (await Promise.all(regions.map((region) => region.stop()))));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) throw failure.reason;
  signal.throwIfAborted();

  cleanup.add(async () => forgetAddresses(state));
  writeJson(state.endpointsFile, services.endpoints);
  writeJson(
    state.outputsFile,
    Object.fromEntries(regions.map(({ environment, outputs }) => [environment.stackId, outputs])),
  );
  return regions;
}

const portOf = ({ ports }: StartOptions, { name, localPort }: Environment): number =>
  ports[name] ?? localPort;

function stackOf({ stackId }: Environment, stacks: readonly Stack[]): Stack {
  const stack = stacks.find(({ name }) => name === stackId);
  if (!stack)
    throw new Error(
      `The assembly has no stack ${stackId}. It has: ${stacks.map(({ name }) => name).join(', ')}.`,
    );
  return stack;
}

/** Commands find a running environment by these files. */
function forgetAddresses(state: StateFolder): void {
  removeFile(state.outputsFile);
  removeFile(state.endpointsFile);
}

async function removeData({ state, environments, onStep }: StartOptions): Promise<void> {
  await Promise.all(
    environments.map(async ({ name }) => {
      const folder = state.environment(name);
      await removePostgres(folder.databaseDirectory);
      rmSync(folder.directory, { recursive: true, force: true });
      rmSync(folder.logsDirectory, { recursive: true, force: true });
    }),
  );
  onStep(`Removed the data of ${environments.map(({ name }) => name).join(', ')}`);
}

function startDatabase(state: StateFolder, name: string): Promise<Postgres> {
  const folder = state.environment(name);
  const starting = startPostgres({ directory: folder.databaseDirectory });
  // Whoever awaits it gets the error; until then it is not an unhandled one.
  starting.catch(() => undefined);
  return starting;
}

async function stopDatabase(starting: Promise<Postgres>): Promise<void> {
  const started = await starting.catch(() => undefined);
  await started?.stop();
}
