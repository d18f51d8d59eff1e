import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAssembly, type Stack, servingStacks } from './assembly/manifest';
import { allSettledOrThrow, Cleanup } from './cleanup';
import { type ApiAddresses, openApiAddresses } from './gateway/addresses';
import { readApi } from './gateway/api';
import type { EventSource } from './lambda/event-source';
import { failed, type InvocationResult, type Runtime } from './lambda/instance';
import { openLogs } from './logs';
import { localCertificate } from './network/certificates';
import { createPermissions } from './permissions/permissions';
import { type Ports, portOf, requireFreePorts } from './ports';
import { startPostgres } from './postgres/postgres';
import { findFunction, type StackContext } from './resources/context';
import { deployStack } from './resources/deployment';
import { checkRules, startEventSources } from './resources/event-sources';
import { makeResource } from './resources/table';
import { provideDatabaseFolder } from './restore';
import { startServices } from './services/services';
import { StartError, type StateFolder, writeJson } from './state';

/** Lines for a person. */
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

export interface Environment {
  readonly stack: Stack;
  /** The stack's outputs, with this machine's values. */
  readonly outputs: Readonly<Record<string, string>>;
}

/** Environments that run on this machine. */
export type Local = Awaited<ReturnType<typeof start>>;

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

async function start(options: LocalOptions, cleanup: Cleanup) {
  const { state, ports, log } = options;
  const serving = servingStacks(readAssembly(options.assembly));
  const all = serving.map(({ environment }) => environment);
  const { environments: names = all } = options;
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    throw new StartError(`There is no environment "${unknown}". Choose from: ${all.join(', ')}.`, 2);
  }
  const stacks = serving.filter(({ environment }) => names.includes(environment));
  const portIn = (stack: Stack) => (stageName: string) => portOf(stageName, serving.indexOf(stack), ports);
  if (ports !== 'any') {
    await requireFreePorts(
      stacks.flatMap((stack) => ['api', 'dashboard'].map(portIn(stack))),
      ports.offset,
    );
  }
  // Commands find running environments by these files.
  const removeAddresses = () => {
    for (const file of [state.outputsFile, state.endpointsFile]) rmSync(file, { force: true });
  };
  removeAddresses();

  let fail: (reason: string) => void;
  const failure = new Promise<string>((resolve) => {
    fail = resolve;
  });
  const started = stacks.map((stack) => {
    const { environment } = stack;
    const { logsDirectory } = state.environment(environment);
    const logs = openLogs(logsDirectory, (functionName, message) =>
      log.problem(`${environment}, ${functionName}: ${message}`),
    );
    cleanup.add(() => logs.close());
    const postgres = provideDatabaseFolder(stack, state, log.step).then((directory) =>
      startPostgres({
        directory,
        onLog: (line) => logs.write('postgresql', line),
        onUnexpectedEnd: (how) =>
          fail(
            `PostgreSQL of ${environment} ended by itself (${how}). Its log: ${logsDirectory}/postgresql.log`,
          ),
      }).catch((error: Error) => {
        throw new StartError(`${environment}: ${error.message}`);
      }),
    );
    const ended = postgres.catch(() => undefined);
    cleanup.add(async () => (await ended)?.stop());
    return { stack, logs, postgres };
  });

  const permissions = createPermissions();
  const [certificate, services] = await allSettledOrThrow([
    localCertificate({ directory: state.certificatesDirectory }),
    startServices(cleanup, permissions.authorize),
  ]);
  // Before any resource: functions need the address, and the dashboards link each other.
  const addresses = await allSettledOrThrow(
    stacks.map(async (stack) => {
      const opened = await openApiAddresses(stack, portIn(stack));
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
    started.map(async ({ stack, logs, postgres }, index) => {
      const { environment } = stack;
      const context: StackContext = {
        ...{ stack, logs, postgres, certificate, permissions, services },
        folder: state.environment(environment),
        runtime: options.runtime,
        ownVariables: {
          DATABASE_CERTIFICATE_AUTHORITIES: certificate.certFile,
          OTHER_DASHBOARDS: JSON.stringify(dashboards.filter((other) => other.environment !== environment)),
        },
        functions: new Map(),
        secrets: new Map(),
        cleanup: cleanups[index] as Cleanup,
        onProblem: log.problem,
      };
      const outputs = await startEnvironment(context, addresses[index] as ApiAddresses);
      log.step(`Started ${environment}: ${outputs.ApiBaseUrl}`);
      return { stack, outputs };
    }),
  );
  const postgres = await Promise.all(
    started.map(async (each) => [each.stack.environment, await each.postgres] as const),
  );

  cleanup.add(removeAddresses);
  const outputs = Object.fromEntries(environments.map(({ stack, outputs }) => [stack.name, outputs]));
  writeJson(state.endpointsFile, services.endpoints);
  writeJson(state.outputsFile, outputs);
  return {
    environments,
    /** By stack, in the shape of `cdk deploy --outputs-file`. */
    outputs,
    /** Of the AWS services, by the names of `endpoints.json`. */
    endpoints: services.endpoints,
    /** Runs a function, by its name or ARN. @throws Error when there is none */
    async invoke(nameOrArn: string, event: unknown): Promise<InvocationResult> {
      const found = services.functions.find(nameOrArn);
      if (!found) throw new Error(`There is no function ${nameOrArn}.`);
      return found.invoke(event);
    },
    /** By the environment's name. */
    postgres: Object.fromEntries(postgres),
    accesses: permissions.accesses,
    /** Resolves when a PostgreSQL ended by itself: to what happened, and where its log is. */
    failure,
    /** Answers running requests, then ends everything; a second call waits for the first. */
    stop: () => cleanup.run(),
  };
}

/** Makes an environment's resources, then lets requests and messages in. @returns the stack's outputs */
async function startEnvironment(
  context: StackContext,
  addresses: ApiAddresses,
): Promise<Environment['outputs']> {
  const { stack, folder, permissions, services, logs, functions, secrets, cleanup } = context;
  services.functions.add((nameOrArn) => functions.get(nameOrArn.split(':').at(-1) ?? ''));
  cleanup.add(() => Promise.all([...functions.values()].map((each) => each.stop())));
  const deployed = await deployStack(
    stack,
    (request) => makeResource(request, context),
    (secretId) => secrets.get(secretId),
    addresses.localize,
  );
  checkRules(deployed, context);

  for (const [logicalId, gateway] of addresses.gateways) {
    gateway.serve({
      api: readApi(deployed.resources, logicalId),
      findFunction: (functionArn, sourceArn) => {
        const refusal = permissions.authorizeService('apigateway.amazonaws.com', functionArn, sourceArn);
        if (refusal === undefined) return findFunction(context, functionArn);
        logs.write('access', refusal);
        return { invoke: async () => failed('AccessDeniedException', refusal) };
      },
      region: stack.region,
    });
  }
  const queueNames = [...deployed.resources.values()]
    .filter(({ type }) => type === 'AWS::SQS::Queue')
    .map(({ attributes }) => String(attributes.QueueName));
  services.queues.restore(folder.messagesFile);
  let eventSources: readonly EventSource[] = [];
  // Running requests and messages have a second to end before their functions do.
  cleanup.add(async () => {
    const stopped = Promise.all(eventSources.map((source) => source.stop()));
    await Promise.all([addresses.close(), Promise.race([stopped, sleep(1_000, undefined, { ref: false })])]);
    services.queues.save(folder.messagesFile, queueNames);
  });
  eventSources = startEventSources(deployed, context);
  return deployed.outputs;
}
