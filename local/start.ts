import { rmSync } from 'node:fs';
import { readAssembly, type Stack, servingStacks } from './assembly/manifest';
import { type Authorize, createPermissions, type Decide, type Permissions } from './aws/iam/permissions';
import type { Runtime } from './aws/lambda/instance';
import { localCertificate } from './aws/rds/certificate';
import { startServices } from './aws/services';
import { isNew, provideDatabaseFolder, restoredFrom } from './database-folder';
import { type Opened, openEnvironment, type Shared, startEnvironment } from './environment';
import { openCluster } from './postgres/cluster';
import { allSettledOrThrow, Cleanup } from './shared/cleanup';
import { type Ports, portOf, receiverUrl } from './shared/ports';
import { writeJson } from './state/json';

export interface LocalOptions extends Pick<Shared, 'state' | 'log'> {
  /** The folder of a cloud assembly. */
  readonly assembly: string;
  /** What completes it, while the AWS services start. @default - it is complete */
  readonly prepared?: Promise<unknown>;
  /** Environments that it will have. If the state is new, their databases start meanwhile. @default - none */
  readonly expected?: () => readonly string[];
  readonly ports: Ports;
  /** Names. @default - every environment with an API */
  readonly environments?: readonly string[];
  /** Aborting it stops everything, also while it starts. Aborted if an environment cannot start or go on. */
  readonly ending?: AbortController;
  /** Runs the functions. @default - in processes */
  readonly runtime?: Runtime;
  /** Decides each access. @default - by the templates' policies */
  readonly decide?: Decide;
}

/** Running environments. */
export type Local = Awaited<ReturnType<typeof start>>;
export type RunningEnvironment = Awaited<ReturnType<typeof startEnvironment>>;

/**
 * Runs environments on this machine from the templates of their stacks.
 *
 * @throws the first failure, or why it was aborted, after stopping everything
 */
export async function startLocal(options: LocalOptions): Promise<Local> {
  const { log, ending = new AbortController() } = options;
  const { signal } = ending;
  const onFailure = (error: Error) => ending.abort(error);
  const cleanup = new Cleanup();
  signal.addEventListener('abort', () => void cleanup.run().catch(() => undefined));
  try {
    const local = await start(options, { ...options, signal, onFailure }, cleanup);
    signal.throwIfAborted();
    return local;
  } catch (error) {
    onFailure(error as Error);
    await cleanup.run().catch((also) => log.problem(String(also)));
    throw signal.reason;
  }
}

async function start(
  options: LocalOptions,
  shared: Omit<Shared, 'certificate' | 'services'>,
  cleanup: Cleanup,
) {
  const { assembly, prepared, state, ports } = options;
  const { signal } = shared;
  // Commands find running environments by these files.
  const removeAddresses = () => {
    for (const file of [state.outputsFile, state.endpointsFile]) rmSync(file, { force: true });
  };
  removeAddresses();

  const permissions: Permissions[] = [];
  const authorize: Authorize = (call) => {
    for (const { authorize } of permissions) {
      const refusal = authorize(call);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
  const parts = {
    certificate: localCertificate(state.certificatesDirectory),
    services: startServices(cleanup, authorize),
  };

  const open = (name: string, source: string) =>
    openEnvironment(name, source, cleanup.nested(), { ...shared, ...parts });

  /** By name. */
  async function openNew(): Promise<ReadonlyMap<string, Opened>> {
    if (!options.expected || !isNew(state)) return new Map();
    const created = openCluster(state.emptyClusterDirectory, signal);
    const names = options.environments ?? options.expected();
    await created;
    const environments = new Map<string, Opened>();
    // One after the other: the last one takes the cluster, which is copied for the others.
    for (const [index, name] of names.entries()) {
      await provideDatabaseFolder(name, '', state, signal, index === names.length - 1);
      environments.set(name, open(name, ''));
    }
    return environments;
  }

  async function startOne(stack: Stack, position: number, early?: Opened): Promise<RunningEnvironment> {
    const source = restoredFrom(stack.template);
    if (source) await early?.cleanup.run();
    const own = {
      ...((!source && early) || open(stack.environment, source)),
      permissions: createPermissions(options.decide),
      portOf: (stageName: string) => portOf(stageName, position, ports),
    };
    permissions.push(own.permissions);
    return startEnvironment(stack, own, { ...shared, ...parts });
  }

  async function startAll(): Promise<RunningEnvironment[]> {
    // Both, for what starts now to be stopped.
    const [, early] = await allSettledOrThrow([prepared, opened]);
    const starting = servingStacks(readAssembly(assembly)).flatMap((stack, position) =>
      (options.environments?.includes(stack.environment) ?? true)
        ? [startOne(stack, position, early.get(stack.environment))]
        : [],
    );
    for (const each of starting) each.catch(shared.onFailure);
    return allSettledOrThrow(starting);
  }

  const opened = openNew();
  const starting = startAll();
  for (const each of [...Object.values(parts), opened, starting]) each.catch(shared.onFailure);
  // The services, too, for what starts now to be stopped.
  const [services, , environments] = await allSettledOrThrow([parts.services, parts.certificate, starting]);
  cleanup.nested().add(removeAddresses);
  const databases = Array.from(services.databases, ([environment, url]) => [`database-${environment}`, url]);
  const others = { ...Object.fromEntries(databases), 'webhook-receiver': receiverUrl(ports) };
  writeJson(state.endpointsFile, { ...services.endpoints, ...others });
  writeJson(
    state.outputsFile,
    Object.fromEntries(environments.map(({ stack, outputs }) => [stack.name, outputs])),
  );
  return {
    /** In the assembly's order. */
    environments,
    /** The AWS services' addresses, keyed by the names in `endpoints.json`. */
    endpoints: services.endpoints,
    functions: services.functions,
    /** Invokes a function by name or ARN. @throws (rejects) Error if it does not exist */
    invoke: async (nameOrArn: string, event: unknown) => services.functions.find(nameOrArn).invoke(event),
    /** Completes running requests, then stops everything; a second call waits for the first. */
    stop: () => cleanup.run(),
  };
}
