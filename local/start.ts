import { rmSync } from 'node:fs';
import { readAssembly, type Stack, servingStacks } from './assembly/manifest';
import { allSettledOrThrow, Cleanup } from './cleanup';
import { type Environment, startEnvironment } from './environment';
import { type ApiAddresses, openApiAddresses } from './gateway/addresses';
import type { InvocationResult, Runtime } from './lambda/instance';
import { openLogs } from './logs';
import { localCertificate } from './network/certificates';
import { type Accesses, createPermissions } from './permissions/permissions';
import { type Ports, portOf, requireFreePorts } from './ports';
import { type Postgres, PostgresDidNotStart, startPostgres } from './postgres/postgres';
import { provideDatabaseFolder } from './restore';
import { startServices } from './services/services';
import { StartError, type StateFolder, writeJson } from './state';

/** Gets lines for a person. */
export interface Log {
  step(line: string): void;
  /** Problems while the environments run, such as an error that a function logged. */
  problem(line: string): void;
}

export interface LocalOptions {
  /** The folder of a cloud assembly. */
  readonly assembly: string;
  /** Used by this process alone. */
  readonly state: StateFolder;
  readonly ports: Ports;
  /** Names. @default - every environment that serves */
  readonly environments?: readonly string[];
  readonly log: Log;
  /** Runs the functions. @default - in processes */
  readonly runtime?: Runtime;
}

/** Environments that run on this machine. */
export interface Local {
  readonly environments: readonly Environment[];
  /** By stack, in the shape of `cdk deploy --outputs-file`. */
  readonly outputs: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Of the AWS services, by the names of `endpoints.json`. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Runs a function, by its name or ARN. @throws Error when there is none */
  invoke(nameOrArn: string, event: unknown): Promise<InvocationResult>;
  /** By the environment's name. */
  readonly postgres: Readonly<Record<string, Pick<Postgres, 'pid' | 'restart'>>>;
  readonly accesses: Accesses;
  /** Resolves when a PostgreSQL ended that nobody stopped: to what happened, and where its log is. */
  readonly failure: Promise<string>;
  /** Answers running requests, then ends everything; a second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Runs environments on this machine from the templates of their stacks.
 *
 * @throws StartError or the error of a part, when nothing is left running
 */
export async function startLocal(options: LocalOptions): Promise<Local> {
  const cleanup = new Cleanup();
  try {
    return await start(options, cleanup);
  } catch (error) {
    await cleanup.run().catch((also) => options.log.problem(String(also)));
    throw error;
  }
}

async function start(options: LocalOptions, cleanup: Cleanup): Promise<Local> {
  const { state, ports, log } = options;
  const serving = servingStacks(readAssembly(options.assembly));
  const stacks = choose(serving, options.environments);
  const portsOf = (stack: Stack) => (stageName: string) => portOf(stageName, serving.indexOf(stack), ports);
  if (ports !== 'any') {
    const wanted = stacks.flatMap((stack) => ['api', 'dashboard'].map(portsOf(stack)));
    await requireFreePorts(wanted, ports.offset);
  }
  removeAddresses(state);

  const permissions = createPermissions();
  let fail: (reason: string) => void;
  const failure = new Promise<string>((resolve) => {
    fail = resolve;
  });
  const parts = stacks.map((stack) => {
    const { environment } = stack;
    const folder = state.environment(environment);
    const logs = openLogs(folder.logsDirectory, (functionName, message) =>
      log.problem(`${environment}, ${functionName}: ${message}`),
    );
    cleanup.add(() => logs.close());
    const postgres = provideDatabaseFolder(stack, state, log.step).then((directory) =>
      startPostgres({
        directory,
        onLog: (line) => logs.write('postgresql', line),
        onUnexpectedEnd: (how) =>
          fail(
            `PostgreSQL of ${environment} ended by itself (${how}). Its log: ${folder.logsDirectory}/postgresql.log`,
          ),
      }).catch(orAdvise(environment)),
    );
    const settled = postgres.catch(() => undefined);
    cleanup.add(async () => (await settled)?.stop());
    return { stack, folder, logs, postgres };
  });

  const [certificate, services] = await allSettledOrThrow([
    localCertificate({ directory: state.certificatesDirectory }),
    startServices(cleanup, permissions.authorize),
  ]);

  // All before any environment: the dashboards link each other.
  const addresses = await allSettledOrThrow(
    stacks.map(async (stack) => {
      const opened = await openApiAddresses(stack, portsOf(stack));
      cleanup.add(() => opened.close());
      return opened;
    }),
  );
  const dashboards = stacks.map(({ environment, purpose }, index) => ({
    ...{ environment, purpose },
    url: addresses[index]?.urls.dashboard ?? '',
  }));

  const cleanups = stacks.map(() => new Cleanup());
  cleanup.add(() => allSettledOrThrow(cleanups.map((each) => each.run())));
  const environments = await allSettledOrThrow(
    parts.map(async ({ stack, ...part }, index) => {
      const environment = await startEnvironment(
        {
          ...part,
          ...{ stack, certificate, permissions, services },
          addresses: addresses[index] as ApiAddresses,
          otherDashboards: dashboards.filter((other) => other.environment !== stack.environment),
          runtime: options.runtime,
          onProblem: log.problem,
        },
        cleanups[index] as Cleanup,
      );
      log.step(`Started ${stack.environment}: ${environment.outputs.ApiBaseUrl}`);
      return environment;
    }),
  );

  cleanup.add(() => removeAddresses(state));
  const outputs = Object.fromEntries(environments.map(({ stack, outputs }) => [stack.name, outputs]));
  writeJson(state.endpointsFile, services.endpoints);
  writeJson(state.outputsFile, outputs);
  return {
    environments,
    outputs,
    endpoints: services.endpoints,
    async invoke(nameOrArn, event) {
      const found = services.functions.find(nameOrArn);
      if (!found) throw new Error(`There is no function ${nameOrArn}.`);
      return found.invoke(event);
    },
    postgres: Object.fromEntries(
      await Promise.all(parts.map(async (part) => [part.stack.environment, await part.postgres] as const)),
    ),
    failure,
    accesses: permissions.accesses,
    stop: () => cleanup.run(),
  };
}

function choose(serving: readonly Stack[], names: readonly string[] | undefined): readonly Stack[] {
  const all = serving.map(({ environment }) => environment);
  const unknown = names?.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    throw new StartError(`There is no environment "${unknown}". Choose of: ${all.join(', ')}.`, 2);
  }
  return serving.filter(({ environment }) => names?.includes(environment) ?? true);
}

const orAdvise = (environment: string) => (error: Error) => {
  const advice =
    error instanceof PostgresDidNotStart ? '\nIf its data is damaged, start over without it: --fresh.' : '';
  throw new StartError(`${environment}: ${error.message}${advice}`);
};

/** Commands find running environments by these files. */
function removeAddresses(state: StateFolder): void {
  for (const file of [state.outputsFile, state.endpointsFile]) rmSync(file, { force: true });
}
