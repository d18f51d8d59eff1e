import { rmSync } from 'node:fs';
import type { Environment } from '../lib/environment/environment';
import { type ApiAddresses, openApiAddresses } from './api-gateway/addresses';
import { allSettledOrThrow, Cleanup, startOrUndo } from './cleanup';
import type { AccessControl } from './iam/access';
import { type Logs, openLogs } from './logs';
import { localCertificate } from './network/certificates';
import { requireFreePorts } from './network/ports';
import { type Postgres, removePostgres, startPostgres } from './postgres/postgres';
import { type Region, startRegion } from './region';
import { prepareDatabase } from './restore';
import { startServices } from './services/services';
import { claimStateFolder } from './state/claim';
import { lockState } from './state/lock';
import { removeFile, type StateFolder, writeJson } from './state/state';
import { readAssembly, type Stack } from './template/assembly';
import { keepAssembly } from './template/kept-assembly';
import { synthesize } from './template/synthesis';

export interface StartOptions {
  readonly state: StateFolder;
  readonly environments: readonly Environment[];
  /** Ports of the APIs by environment; 0 takes any free one. @default - the table's own */
  readonly ports: Readonly<Record<string, number>>;
  /** As `ports`, of the dashboards. @default - the table's own; any free one where the API's is not the table's */
  readonly dashboardPorts: Readonly<Record<string, number>>;
  /** Is added to each of the table's own ports. @default 0 */
  readonly portOffset?: number;
  /** Whether to remove the data of earlier runs of these environments first, and to synthesize in any case. */
  readonly fresh: boolean;
  /** Decides calls of functions. @default - by the policies of the templates */
  readonly access?: AccessControl;
  /** The script of the CDK app. @default - the project's own */
  readonly app?: string;
  /** Aborts the start. */
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
  /** Gets a line for each problem while the environments run. */
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
 * @throws StateFolderRefused, StateInUse, PortsUnavailable, SynthesisFailed, CustomResourceFailed, or what a part failed with
 */
export async function startEnvironments(options: StartOptions): Promise<RunningEnvironments> {
  const cleanup = new Cleanup();
  const regions = await startOrUndo(cleanup, () => start(options, cleanup), options.onProblem);
  return { regions, stop: () => cleanup.run() };
}

async function start(options: StartOptions, cleanup: Cleanup): Promise<readonly Region[]> {
  const { state, environments, signal, onStep } = options;
  claimStateFolder(state);
  const lock = lockState(state.directory);
  cleanup.add(lock.release);
  await requireFreePorts(
    environments.flatMap((environment) => {
      const { api, dashboard } = portsOf(options, environment);
      return [
        { environment: environment.name, port: api, option: '--port' },
        { environment: environment.name, port: dashboard, option: '--dashboard-port' },
      ];
    }),
    options.portOffset,
  );
  removeAddresses(state);
  if (options.fresh) await removeData(options);

  const begun = environments.map((environment) => begin(environment, options));
  cleanup.add(() => allSettledOrThrow(begun.map((each) => each.end())));
  const [, certificate, services] = await allSettledOrThrow([
    provideAssembly(options),
    localCertificate({ directory: state.certificatesDirectory }),
    startServices(cleanup, options.access),
  ]);
  signal.throwIfAborted();

  const stacks = readAssembly(state.assemblyDirectory);
  // All before any environment starts: the dashboards link each other.
  const addresses = await allSettledOrThrow(
    environments.map(async (environment) => {
      const opened = await openApiAddresses(stackOf(environment, stacks), portsOf(options, environment));
      cleanup.add(opened.close);
      return opened;
    }),
  );
  const dashboards = environments.map(({ name, purpose }, index) => ({
    environment: name,
    purpose,
    url: addresses[index]?.urls.dashboard ?? '',
  }));
  const running: Region[] = [];
  cleanup.add(() => allSettledOrThrow(running.map((region) => region.stop())));
  const regions = await allSettledOrThrow(
    begun.map(async ({ environment, logs, postgres }, index) => {
      const region = await startRegion({
        environment,
        stack: stackOf(environment, stacks),
        folder: state.environment(environment),
        addresses: addresses[index] as ApiAddresses,
        otherDashboards: dashboards.filter((other) => other.environment !== environment.name),
        postgres,
        certificate,
        services,
        logs,
        onProblem: options.onProblem,
      });
      running.push(region);
      onStep(`Started ${environment.name}: ${region.baseUrl}`);
      return region;
    }),
  );
  signal.throwIfAborted();

  cleanup.add(() => removeAddresses(state));
  writeJson(state.endpointsFile, services.endpoints);
  writeJson(
    state.outputsFile,
    Object.fromEntries(regions.map(({ environment, outputs }) => [environment.stackId, outputs])),
  );
  return regions;
}

async function provideAssembly({ state, signal, app, fresh, onStep }: StartOptions): Promise<void> {
  const directory = state.assemblyDirectory;
  // Another app is of sources that nobody lists.
  if (app) await synthesize(directory, signal, { script: app });
  else if (
    await keepAssembly({
      directory,
      signal,
      anew: fresh,
      onSynthesis: () => onStep('Synthesizing the stacks'),
    })
  ) {
    return onStep('Kept the stacks: nothing has changed since they were synthesized');
  }
  onStep('Synthesized the stacks');
}

/** By the name of the stage. */
function portsOf({ ports, dashboardPorts, portOffset = 0 }: StartOptions, environment: Environment) {
  const { name } = environment;
  const usual = environment.localPort + portOffset;
  const api = ports[name] ?? usual;
  const usualDashboard = api === usual ? environment.localDashboardPort + portOffset : 0;
  return { api, dashboard: dashboardPorts[name] ?? usualDashboard };
}

function stackOf({ stackId }: Environment, stacks: readonly Stack[]): Stack {
  const stack = stacks.find(({ name }) => name === stackId);
  if (!stack)
    throw new Error(
      `The assembly has no stack ${stackId}. It has: ${stacks.map(({ name }) => name).join(', ')}.`,
    );
  return stack;
}

/** Commands find a running environment by these files. */
function removeAddresses(state: StateFolder): void {
  removeFile(state.outputsFile);
  removeFile(state.endpointsFile);
}

async function removeData({ state, environments, onStep }: StartOptions): Promise<void> {
  await Promise.all(
    environments.map(async (environment) => {
      const folder = state.environment(environment);
      await removePostgres(folder.databaseDirectory);
      rmSync(folder.directory, { recursive: true, force: true });
      rmSync(folder.logsDirectory, { recursive: true, force: true });
    }),
  );
  onStep(`Removed the data of ${environments.map(({ name }) => name).join(', ')}`);
}

interface StartingEnvironment {
  readonly environment: Environment;
  readonly logs: Logs;
  readonly postgres: Promise<Postgres>;
  end(): Promise<void>;
}

/** Starts what needs no template, while the stacks are synthesized. */
function begin(environment: Environment, { state, onStep, onProblem }: StartOptions): StartingEnvironment {
  const { name } = environment;
  const folder = state.environment(environment);
  const logs = openLogs(folder.logsDirectory, (functionName, message) =>
    onProblem(`${name}, ${functionName}: ${message}`),
  );
  const postgres = prepareDatabase(environment, state, onStep).then((directory) =>
    startPostgres({
      directory,
      onLog: (line) => logs.write('postgresql', line),
      onUnexpectedEnd: (line) => onProblem(`${name}: ${line}`),
    }),
  );
  // The error goes to those who await it; until then it is not an unhandled one.
  postgres.catch(() => undefined);
  return {
    environment,
    logs,
    postgres,
    async end() {
      const started = await postgres.catch(() => undefined);
      await started?.stop();
      await logs.close();
    },
  };
}
