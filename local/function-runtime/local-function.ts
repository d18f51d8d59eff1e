import { randomUUID } from 'node:crypto';
import { resolve as resolvePath } from 'node:path';
import { LOCAL_ACCOUNT_ID, runtimeEnvironment } from './environment';
import { Instance, type InstanceRequest } from './instance';
import { type FunctionError, failed, type InvocationResult, PAYLOAD_LIMIT } from './result';

export interface LocalFunctionOptions {
  readonly name: string;
  /** The folder of the same bundle that a deployment uploads. */
  readonly bundleDirectory: string;
  /** File and export, such as `index.handler`. */
  readonly handler: string;
  /** The function's own variables; they win over those of the runtime. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMiB: number;
  readonly region: string;
  /** Concurrent invocations beyond these are throttled, as Lambda does. @default - no limit */
  readonly reservedConcurrency?: number;
  /** Processes at most; further invocations wait for one. @default 10 */
  readonly maxInstances?: number;
  /** Gets each line that the function writes to stdout or stderr. */
  readonly onLog: (line: string) => void;
}

export interface LocalFunction {
  readonly name: string;
  readonly arn: string;
  /**
   * Runs the handler with an event, and never rejects. An aborted `signal` only ends the wait:
   * a running invocation continues to its end, as on Lambda.
   */
  invoke(event: unknown, options?: { readonly signal?: AbortSignal }): Promise<InvocationResult>;
  /** Loads the code in one process, unless there is one. Rejects with the reason when it does not load. */
  warm(): Promise<void>;
  /** The current processes. */
  instances(): readonly { readonly pid: number; readonly busy: boolean }[];
  /** Kills every process; running and waiting invocations result in an error. */
  stop(): Promise<void>;
}

interface Waiting {
  readonly request: InstanceRequest;
  readonly finish: (result: InvocationResult) => void;
}

/** A Lambda function on this machine: each instance is one process, started on demand. */
export function startFunction(options: LocalFunctionOptions): LocalFunction {
  const { name, region, timeoutSeconds, memoryMiB, reservedConcurrency = Number.POSITIVE_INFINITY } = options;
  const maxInstances = options.maxInstances ?? 10;
  const bundleDirectory = resolvePath(options.bundleDirectory);
  const arn = `arn:aws:lambda:${region}:${LOCAL_ACCOUNT_ID}:function:${name}`;
  const environment = { ...runtimeEnvironment({ ...options, bundleDirectory }), ...options.environment };
  const instances = new Set<Instance>();
  const idle: Instance[] = [];
  const waiting: Waiting[] = [];
  let starting = 0;
  let inFlight = 0;
  let stopped = false;
  const ended = () => failed('Runtime.Stopped', `Function ${name} is stopped`);

  async function addInstance(): Promise<FunctionError | undefined> {
    const instance = new Instance({ bundleDirectory, environment, memoryMiB, onLog: options.onLog });
    instances.add(instance);
    starting += 1;
    instance.exited.then(() => {
      instances.delete(instance);
      serve();
    });
    const error = await instance.ready;
    starting -= 1;
    if (error) waiting.shift()?.finish({ ok: false, ...error });
    else idle.push(instance);
    serve();
    return error;
  }

  function serve(): void {
    while (waiting.length > 0) {
      const instance = idle.pop();
      if (!instance) break;
      if (instance.alive) run(instance, waiting.shift() as Waiting);
    }
    while (!stopped && starting < waiting.length && instances.size < maxInstances) addInstance();
  }

  async function run(instance: Instance, { request, finish }: Waiting): Promise<void> {
    finish(await instance.invoke(request));
    if (instance.alive) idle.push(instance);
    serve();
  }

  function requestFor(event: string): InstanceRequest {
    return {
      event,
      timeoutSeconds,
      context: {
        awsRequestId: randomUUID(),
        functionName: name,
        functionVersion: '$LATEST',
        invokedFunctionArn: arn,
        memoryLimitInMB: String(memoryMiB),
        logGroupName: `/aws/lambda/${name}`,
        logStreamName: 'local',
      },
    };
  }

  function enqueue(event: string, signal: AbortSignal | undefined): Promise<InvocationResult> {
    inFlight += 1;
    return new Promise((resolve) => {
      const finish = (result: InvocationResult) => {
        inFlight -= 1;
        signal?.removeEventListener('abort', leave);
        resolve(result);
      };
      const entry: Waiting = { request: requestFor(event), finish };
      const leave = () => {
        const place = waiting.indexOf(entry);
        if (place < 0) return resolve(notAwaited());
        waiting.splice(place, 1);
        finish(notAwaited());
      };
      signal?.addEventListener('abort', leave, { once: true });
      waiting.push(entry);
      serve();
    });
  }

  return {
    name,
    arn,
    async invoke(event, { signal } = {}) {
      const json = JSON.stringify(event ?? null);
      if (stopped) return ended();
      if (signal?.aborted) return notAwaited();
      if (Buffer.byteLength(json) > PAYLOAD_LIMIT) {
        return failed(
          'RequestEntityTooLargeException',
          `Request must be smaller than ${PAYLOAD_LIMIT} bytes`,
        );
      }
      if (inFlight >= reservedConcurrency) return failed('TooManyRequestsException', 'Rate Exceeded.');
      return enqueue(json, signal);
    },
    async warm() {
      if (stopped || instances.size > 0) return;
      const error = await addInstance();
      if (error && !stopped)
        throw new Error(`${name} did not load: ${error.errorType}: ${error.errorMessage}`);
    },
    instances: () => [...instances].flatMap(({ pid, busy }) => (pid === undefined ? [] : [{ pid, busy }])),
    async stop() {
      stopped = true;
      for (const { finish } of waiting.splice(0)) finish(ended());
      const ends = [...instances].map((instance) => instance.exited);
      for (const instance of instances) instance.kill();
      await Promise.all(ends);
    },
  };
}

function notAwaited(): InvocationResult {
  return failed('AbortError', 'The caller no longer waits');
}
