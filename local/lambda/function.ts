import { randomUUID } from 'node:crypto';
import { resolve as resolvePath } from 'node:path';
import { LOCAL_ACCOUNT_ID } from '../names';
import {
  type Code,
  type FailedInvocation,
  failed,
  type Instance,
  type InvocationResult,
  type Runtime,
} from './instance';
import { startProcess } from './process';

/**
 * The largest event and the largest result of a synchronous invocation, in bytes of JSON.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html (6 MB each)
 */
const payloadLimit = 6_291_556;

export interface LocalFunctionOptions extends Omit<Code, 'environment'> {
  readonly name: string;
  /** The function's own variables; they win over those of Lambda's runtime. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly region: string;
  /** Instances at most; further invocations wait for one. @default 10 */
  readonly maxInstances?: number;
  /** @default - a process for each instance */
  readonly runtime?: Runtime | undefined;
}

export interface LocalFunction {
  readonly name: string;
  readonly arn: string;
  /** An aborted `signal` only ends the wait: a running invocation continues to its end, as on Lambda. */
  invoke(event: unknown, options?: { readonly signal?: AbortSignal }): Promise<InvocationResult>;
  instances(): readonly { readonly pid: number | undefined; readonly busy: boolean }[];
  /** Lets it have as many instances, beside those that were reserved before. */
  reserve(instances: number): void;
  /** Ends idle instances: the function is not needed soon. */
  endIdle(): void;
  /** Kills every instance; running and waiting invocations result in an error. */
  stop(): Promise<void>;
}

/** A Lambda function on this machine: instances are started on demand, and used again. */
export function startFunction(options: LocalFunctionOptions): LocalFunction {
  const { name, region, timeoutSeconds, memoryMiB, onLog, runtime = startProcess } = options;
  let { maxInstances = 10 } = options;
  let reserved = 0;
  const bundleDirectory = resolvePath(options.bundleDirectory);
  const arn = `arn:aws:lambda:${region}:${LOCAL_ACCOUNT_ID}:function:${name}`;
  const environment = { ...runtimeEnvironment({ ...options, bundleDirectory }), ...options.environment };
  const code = { bundleDirectory, handler: options.handler, environment, memoryMiB, onLog };
  const instances = new Set<Instance>();
  const idle: Instance[] = [];
  const waiting = new Set<() => void>();
  let starting = 0;
  const stopped = new AbortController();

  const wake = () => {
    for (const look of waiting) look();
    waiting.clear();
  };

  /** An idle instance, or a new one; waits while all are busy. */
  async function acquire(signal: AbortSignal): Promise<Instance | FailedInvocation> {
    while (!signal.aborted) {
      const instance = idle.pop();
      if (instance?.alive) return instance;
      if (instance) continue;
      if (instances.size + starting < maxInstances) return start();
      await new Promise<void>((look) => {
        waiting.add(look);
        signal.addEventListener('abort', () => look(), { once: true });
      });
    }
    return notAwaited();
  }

  async function start(): Promise<Instance | FailedInvocation> {
    starting += 1;
    const instance = await runtime(code);
    starting -= 1;
    if (!('invoke' in instance)) return instance;
    instances.add(instance);
    void instance.ended.then(() => {
      instances.delete(instance);
      wake();
    });
    if (stopped.signal.aborted) instance.kill();
    return instance;
  }

  /** Past its timeout an invocation ends with its instance, as on Lambda. */
  async function run(instance: Instance, event: string): Promise<InvocationResult> {
    const awsRequestId = randomUUID();
    const context = {
      awsRequestId,
      functionName: name,
      functionVersion: '$LATEST',
      invokedFunctionArn: arn,
      memoryLimitInMB: String(memoryMiB),
      logGroupName: `/aws/lambda/${name}`,
      logStreamName: 'local',
    };
    const timeout = timeoutSeconds * 1_000;
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<FailedInvocation>((resolve) => {
      timer = setTimeout(() => {
        const seconds = timeoutSeconds.toFixed(2);
        resolve(
          failed(
            'Sandbox.Timedout',
            `RequestId: ${awsRequestId} Error: Task timed out after ${seconds} seconds`,
          ),
        );
        instance.kill();
      }, timeout);
    });
    const invocation = { event, context, deadline: Date.now() + timeout };
    const result = await Promise.race([instance.invoke(invocation), timedOut]);
    clearTimeout(timer);
    if (!result.ok) {
      if (!instance.alive && !stopped.signal.aborted) onLog(result.errorMessage);
      return result;
    }
    return Buffer.byteLength(result.payload) <= payloadLimit
      ? { ok: true, payload: JSON.parse(result.payload) }
      : failed(
          'Function.ResponseSizeTooLarge',
          `Response payload size exceeded maximum allowed payload size (${payloadLimit} bytes).`,
        );
  }

  return {
    name,
    arn,
    async invoke(event, { signal } = {}) {
      const json = JSON.stringify(event ?? null);
      if (Buffer.byteLength(json) > payloadLimit) {
        return failed('RequestEntityTooLargeException', `Request must be smaller than ${payloadLimit} bytes`);
      }
      const patience = AbortSignal.any([stopped.signal, ...(signal ? [signal] : [])]);
      const instance = await acquire(patience);
      if (stopped.signal.aborted) return failed('Runtime.Stopped', `Function ${name} is stopped`);
      if (!('invoke' in instance)) return instance;
      const running = run(instance, json).finally(() => {
        if (instance.alive) idle.push(instance);
        wake();
      });
      if (!signal) return running;
      return Promise.race([
        running,
        new Promise<InvocationResult>((resolve) => {
          if (signal.aborted) resolve(notAwaited());
          signal.addEventListener('abort', () => resolve(notAwaited()), { once: true });
        }),
      ]);
    },
    instances: () => [...instances].map((each) => ({ pid: each.pid, busy: !idle.includes(each) })),
    reserve(count) {
      reserved += count;
      maxInstances = Math.max(maxInstances, reserved);
    },
    endIdle() {
      for (const instance of idle.splice(0)) instance.kill();
    },
    async stop() {
      stopped.abort();
      const ends = [...instances].map((instance) => instance.ended);
      for (const instance of instances) instance.kill();
      await Promise.all(ends);
    },
  };
}

const notAwaited = () => failed('AbortError', 'The caller no longer waits');

/**
 * The environment variables that Lambda itself defines.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 *
 * HOME is the bundle, so that no AWS configuration file of the machine's user is ever read.
 */
export function runtimeEnvironment({
  name,
  region,
  memoryMiB,
  handler,
  bundleDirectory,
}: Pick<LocalFunctionOptions, 'name' | 'region' | 'memoryMiB' | 'handler' | 'bundleDirectory'>): Record<
  string,
  string
> {
  return {
    AWS_ACCESS_KEY_ID: 'LOCALFUNCTION',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: 'local',
    AWS_DEFAULT_REGION: region,
    AWS_REGION: region,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMiB),
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    HOME: bundleDirectory,
    LAMBDA_TASK_ROOT: bundleDirectory,
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: 'UTC',
    _HANDLER: handler,
  };
}
