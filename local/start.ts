import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAssembly, type Stack, servingStacks } from './assembly/manifest';
import { type ApiAddresses, openApiAddresses } from './aws/api-gateway/addresses';
import { readApi } from './aws/api-gateway/api';
import { deployStack, type StackContext } from './aws/cloudformation/deployment';
import { createResource } from './aws/cloudformation/resource-types';
import { createPermissions } from './aws/iam/permissions';
import { checkRules, startEventSources } from './aws/lambda/event-source-mappings';
import { failed, type Runtime } from './aws/lambda/instance';
import { localCertificate } from './aws/rds/certificate';
import { startServices } from './aws/services';
import { allSettledOrThrow, Cleanup } from './cleanup';
import { openLogs } from './logs';
import { type Ports, portOf, requireFreePorts } from './ports';
import { startPostgres } from './postgres/postgres';
import { provideDatabaseFolder } from './restore';
import { StartError } from './start-error';
import { writeJson } from './state/json';
import type { StateFolder } from './state/paths';

export interface LocalOptions {
  /** The folder of a cloud assembly. */
  readonly assembly: string;
  /** Locked by this process. */
  readonly state: StateFolder;
  readonly ports: Ports;
  /** Names. @default - every environment with an API */
  readonly environments?: readonly string[];
  /** Progress, and problems of running environments, such as an error that a function logged. */
  readonly log: { step(line: string): void; problem(line: string): void };
  /** Runs the functions. @default - in processes */
  readonly runtime?: Runtime;
}

/** Running environments. */
export type Local = Awaited<ReturnType<typeof start>>;
export type Environment = Local['environments'][number];

/**
 * Runs environments on this machine from the templates of their stacks.
 *
 * @throws StartError or a component's error, after stopping everything
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
    const wanted = stacks.flatMap((stack) => ['api', 'dashboard'].map(portIn(stack)));
    await requireFreePorts(wanted, ports.offset);
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
  const parts = stacks.map((stack) => {
    const { environment } = stack;
    const folder = state.environment(environment);
    const logs = openLogs(folder.logsDirectory, (functionName, message) =>
      log.problem(`${environment}, ${functionName}: ${message}`),
    );
    cleanup.add(() => logs.close());
    const startDatabase = async () =>
      startPostgres({
        directory: await provideDatabaseFolder(stack, state, log.step),
        onLog: (line) => logs.write('postgresql', line),
        onUnexpectedEnd: (how) => {
          const file = `${folder.logsDirectory}/postgresql.log`;
          fail(`PostgreSQL of ${environment} exited unexpectedly (${how}). Log: ${file}`);
        },
      });
    const postgres = startDatabase().catch((error: Error) => {
      throw new StartError(`${environment}: ${error.message}`);
    });
    cleanup.add(() =>
      postgres.then(
        (started) => started.stop(),
        () => undefined,
      ),
    );
    const own = new Cleanup();
    return { stack, folder, logs, postgres, cleanup: own };
  });

  const permissions = createPermissions();
  const [certificate, services] = await allSettledOrThrow([
    localCertificate(state.certificatesDirectory),
    startServices(cleanup, permissions.authorize),
  ]);
  // Before any resource: functions need the address, and dashboards link to each other.
  const opened = await allSettledOrThrow(
    parts.map(async (part) => {
      const addresses = await openApiAddresses(part.stack, portIn(part.stack), cleanup);
      return { ...part, addresses };
    }),
  );
  cleanup.add(() => allSettledOrThrow(opened.map((each) => each.cleanup.run())));
  const environments = await allSettledOrThrow(
    opened.map(async ({ addresses, ...part }) => {
      const { stack, postgres } = part;
      const others = opened
        .filter((other) => other.stack !== stack)
        .map((other) => {
          const { environment, title } = other.stack;
          return { environment, title, url: other.addresses.urls.dashboard ?? '' };
        });
      const context: StackContext = {
        ...{ ...part, certificate, permissions, services, runtime: options.runtime },
        ownVariables: {
          DATABASE_CERTIFICATE_AUTHORITIES: certificate.certFile,
          OTHER_DASHBOARDS: JSON.stringify(others),
        },
      };
      const outputs = await startEnvironment(context, addresses);
      log.step(`Started ${stack.environment}: ${outputs.ApiBaseUrl}`);
      return { stack, outputs, postgres: await postgres };
    }),
  );

  cleanup.add(removeAddresses);
  const outputs = Object.fromEntries(environments.map((each) => [each.stack.name, each.outputs]));
  writeJson(state.endpointsFile, services.endpoints);
  writeJson(state.outputsFile, outputs);
  return {
    environments,
    /** By stack, in the shape of `cdk deploy --outputs-file`. */
    outputs,
    /** Of the AWS services, by their names in `endpoints.json`. */
    endpoints: services.endpoints,
    /** Invokes a function by name or ARN. @throws (rejects) Error if it does not exist */
    invoke: async (nameOrArn: string, event: unknown) => services.functions.find(nameOrArn).invoke(event),
    /** By environment name. */
    postgres: Object.fromEntries(environments.map((each) => [each.stack.environment, each.postgres])),
    accesses: permissions.accesses,
    /** Resolves if a PostgreSQL exits unexpectedly: to the reason and the path of its log. */
    failure,
    /** Completes running requests, then stops everything; a second call waits for the first. */
    stop: () => cleanup.run(),
  };
}

/** Creates an environment's resources, then accepts requests and messages. @returns the stack's outputs */
async function startEnvironment(context: StackContext, addresses: ApiAddresses) {
  const { stack, folder, permissions, services, logs, cleanup } = context;
  const deployed = await deployStack(
    stack,
    (request) => createResource(request, context),
    services.secrets.valueOf,
    addresses.localize,
  );
  checkRules(deployed, context);
  for (const [logicalId, gateway] of addresses.gateways) {
    gateway.serve({
      api: readApi(deployed.resources, logicalId),
      findFunction: (functionArn, sourceArn) => {
        const refusal = permissions.authorizeService('apigateway.amazonaws.com', functionArn, sourceArn);
        if (refusal === undefined) return services.functions.find(functionArn);
        logs.write('access', refusal);
        return { invoke: async () => failed('AccessDeniedException', refusal) };
      },
      region: stack.region,
    });
  }
  services.queues.restore(folder.messagesFile);
  const eventSources = startEventSources(deployed, context);
  // Running requests and messages have a second to complete before their functions stop.
  cleanup.add(async () => {
    const stopped = Promise.all(eventSources.map((source) => source.stop()));
    const closed = [...addresses.gateways.values()].map((gateway) => gateway.close());
    await Promise.all([...closed, Promise.race([stopped, sleep(1_000, undefined, { ref: false })])]);
    const queues = [...deployed.resources.values()].filter(({ type }) => type === 'AWS::SQS::Queue');
    services.queues.save(
      folder.messagesFile,
      queues.map(({ attributes }) => attributes.QueueName),
    );
  });
  return deployed.outputs;
}
