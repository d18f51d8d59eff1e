import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import { resolve as resolvePath } from 'node:path';
import { LOCAL_ACCOUNT_ID } from '../../assembly/manifest';
import {
  type Code,
  failed,
  type Instance,
  type InvocationResult,
  type Runtime,
  startProcess,
} from './instance';

/** Starting instances of all functions: as many as cores, so that a sudden load finds warm ones instead of starting its own. */
let starting = 0;
/** Resume invocations that wait for an instance, when one has started or is idle. */
const turns: (() => void)[] = [];
function takeTurns(): void {
  for (const resume of turns.splice(0)) resume();
}

export interface LocalFunctionOptions extends Code {
  readonly name: string;
  /** File and export, such as `index.handler`. */
  readonly handler: string;
  readonly timeoutSeconds: number;
  readonly region: string;
  /** Concurrent invocations; others wait. @default 10 */
  readonly maxInstances?: number;
  /** Milliseconds until an idle instance ends. At Lambda it is longer, but this machine has less memory. @default 60,000 */
  readonly idleLimit?: number;
  /** @default - a process for each instance */
  readonly runtime?: Runtime | undefined;
}

export type LocalFunction = ReturnType<typeof startFunction>;

/** A function of a stack. */
export interface StackFunction extends LocalFunction {
  /** ARN. */
  readonly role: string;
  /** As in the template. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The functions of all stacks. */
export interface StackFunctions {
  add(added: StackFunction): void;
  /** Finds a function by name or ARN. @throws Error if it does not exist */
  find(nameOrArn: string): StackFunction;
}

/** A local Lambda function, run by a pool of instances. */
export function startFunction(options: LocalFunctionOptions) {
  const { name, region, timeoutSeconds, memoryMiB, onLog, runtime = startProcess } = options;
  const { idleLimit = 60_000 } = options;
  const arn = `arn:aws:lambda:${region}:${LOCAL_ACCOUNT_ID}:function:${name}`;
  const ownVariables = {
    // The ones that the bundles read, of
    // https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
    AWS_REGION: region,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: 'UTC',
    _HANDLER: options.handler,
  };
  const instances = new Set<Instance>();
  /** The latest last, each with the timer that ends it. */
  const idle = new Map<Instance, NodeJS.Timeout>();
  const waiting: (() => void)[] = [];
  let { maxInstances = 10 } = options;
  let reserved = 0;
  let invocations = 0;
  const stopping = new AbortController();
  const { signal } = stopping;
  // One for each instance: more than ten are no leak.
  setMaxListeners(0, signal);

  function take(instance: Instance): Instance {
    clearTimeout(idle.get(instance));
    idle.delete(instance);
    return instance;
  }

  function rest(instance: Instance): void {
    idle.set(instance, setTimeout(() => take(instance).kill(), idleLimit).unref());
    takeTurns();
  }

  function endIdle(): void {
    for (const instance of [...idle.keys()]) take(instance).kill();
  }

  async function invoke(event: unknown): Promise<InvocationResult> {
    const json = JSON.stringify(event ?? null);
    while (invocations >= maxInstances) await new Promise<void>((resume) => waiting.push(resume));
    invocations += 1;
    try {
      const instance = await acquire();
      if ('ok' in instance) return instance;
      const result = await runWithTimeout(instance, json);
      if (instance.isAlive()) rest(instance);
      else if (!result.ok && !signal.aborted) onLog(result.errorMessage);
      return result;
    } finally {
      invocations -= 1;
      waiting.shift()?.();
    }
  }

  /** Takes an idle instance or starts one. @returns a failure if it cannot start */
  async function acquire() {
    for (;;) {
      if (signal.aborted) return failed('Runtime.Stopped', `Function ${name} is stopped`);
      const warm = [...idle.keys()].at(-1);
      if (warm) return take(warm);
      if (starting < availableParallelism()) break;
      await new Promise<void>((resume) => turns.push(resume));
    }
    starting += 1;
    return start().finally(() => {
      starting -= 1;
      takeTurns();
    });
  }

  /** @returns a failure if the code cannot be loaded */
  async function start() {
    const bundleDirectory = resolvePath(options.bundleDirectory);
    const variables = { ...ownVariables, LAMBDA_TASK_ROOT: bundleDirectory, ...options.variables };
    const instance = await runtime({ bundleDirectory, variables, memoryMiB, onLog, signal });
    if ('ok' in instance) return instance;
    instances.add(instance);
    void instance.ended.then(() => {
      instances.delete(instance);
      take(instance);
    });
    return instance;
  }

  async function runWithTimeout(instance: Instance, event: string): Promise<InvocationResult> {
    const awsRequestId = randomUUID();
    const context = {
      awsRequestId,
      functionName: name,
      functionVersion: '$LATEST',
      invokedFunctionArn: arn,
      memoryLimitInMB: String(memoryMiB),
    };
    const timeout = timeoutSeconds * 1_000;
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      instance.kill();
    }, timeout);
    const result = await instance.invoke({ event, context, deadline: Date.now() + timeout });
    clearTimeout(timer);
    if (isTimedOut) {
      const message = `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;
      return failed('Sandbox.Timedout', `RequestId: ${awsRequestId} Error: ${message}`);
    }
    return result.ok ? { ok: true, payload: JSON.parse(result.payload) } : result;
  }

  return {
    name,
    arn,
    invoke,
    instances: () => [...instances],
    /** Reserves concurrency: raises the maximum to the sum of all reservations. */
    reserve(count: number) {
      reserved += count;
      maxInstances = Math.max(maxInstances, reserved);
    },
    endIdle,
    /** Kills every instance; running, waiting and later invocations fail. */
    async stop() {
      stopping.abort();
      takeTurns();
      for (const instance of instances) instance.kill();
      await Promise.all([...instances].map(({ ended }) => ended));
    },
  };
}
