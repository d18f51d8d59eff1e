import { rmSync } from 'node:fs';
import { readAssembly, type Stack, servingStacks } from './assembly/manifest';
import { createPermissions, type Decide } from './aws/iam/permissions';
import type { Runtime } from './aws/lambda/instance';
import { localCertificate } from './aws/rds/certificate';
import { startServices } from './aws/services';
import { allSettledOrThrow, Cleanup } from './cleanup';
import { openEnvironment, type Shared, startEnvironment } from './environment';
import { type Ports, portOf, receiverUrl, requireFreePorts } from './ports';
import { StartError } from './start-error';
import { writeJson } from './state/json';

export interface LocalOptions extends Pick<Shared, 'state' | 'log'> {
  /** The folder of a cloud assembly. */
  readonly assembly: string;
  readonly ports: Ports;
  /** Names. @default - every environment with an API */
  readonly environments?: readonly string[];
  /** Stops everything, also while it starts. @default - only `stop` does */
  readonly signal?: AbortSignal;
  /** Called if a running environment cannot go on. @default - ignored */
  readonly onFailure?: Shared['onFailure'];
  /** Runs the functions. @default - in processes */
  readonly runtime?: Runtime;
  /** Decides each access. @default - by the templates' policies */
  readonly decide?: Decide;
}

/** Running environments. */
export type Local = Awaited<ReturnType<typeof start>>;
export type RunningEnvironment = Local['environments'][number];

/**
 * Runs environments on this machine from the templates of their stacks.
 *
 * @throws StartError or a component's error, after stopping everything; the signal's reason if it is aborted
 */
export async function startLocal(options: LocalOptions): Promise<Local> {
  const { log, signal: interruption = new AbortController().signal } = options;
  const cleanup = new Cleanup();
  // The first failure ends what the other environments wait for.
  const failure = new AbortController();
  let onFailure = (error: Error) => failure.abort(error);
  const signal = AbortSignal.any([interruption, failure.signal]);
  const stop = () => void cleanup.run().catch(() => undefined);
  signal.addEventListener('abort', stop);
  try {
    const shared = { ...options, signal, cleanup, onFailure: (error: Error) => onFailure(error) };
    const local = await start(options, shared);
    signal.throwIfAborted();
    onFailure = options.onFailure ?? (() => undefined);
    return local;
  } catch (error) {
    onFailure(error as Error);
    await cleanup.run().catch((also) => log.problem(String(also)));
    throw signal.reason;
  }
}

async function start(options: LocalOptions, shared: Shared) {
  const { assembly, state, ports, runtime } = options;
  const { signal, cleanup } = shared;
  const serving = servingStacks(readAssembly(assembly));
  const stacks = chosen(serving, options.environments);
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

  const permissions = createPermissions(options.decide);
  const opening = stacks.map((stack) => openEnvironment(stack, portIn(stack), shared));
  const [certificate, services, opened] = await allSettledOrThrow([
    localCertificate(state.certificatesDirectory),
    startServices(cleanup, permissions.authorize),
    allSettledOrThrow(opening),
  ]);
  cleanup.add(() => allSettledOrThrow(opened.map((each) => each.cleanup.run())));
  signal.throwIfAborted();
  const parts = { permissions, services, certificate, runtime };
  const environments = await allSettledOrThrow(
    opened.map((own) => {
      const others = opened.filter((other) => other !== own);
      const started = startEnvironment(own, others, parts, shared);
      started.catch(shared.onFailure);
      return started;
    }),
  );

  const outputs = Object.fromEntries(environments.map((each) => [each.stack.name, each.outputs]));
  cleanup.add(removeAddresses);
  writeJson(state.endpointsFile, { ...services.endpoints, 'webhook-receiver': receiverUrl(ports) });
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
    /** Completes running requests, then stops everything; a second call waits for the first. */
    stop: () => cleanup.run(),
  };
}

/** @throws StartError for an unknown name */
function chosen(stacks: readonly Stack[], names?: readonly string[]): readonly Stack[] {
  const all = stacks.map(({ environment }) => environment);
  const unknown = names?.find((name) => !all.includes(name));
  if (unknown === undefined) return stacks.filter(({ environment }) => names?.includes(environment) ?? true);
  throw new StartError(`There is no environment "${unknown}". Choose from: ${all.join(', ')}.`, 2);
}
