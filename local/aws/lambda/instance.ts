import { fork } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A failure is a value, with Lambda's error payload: `invoke` never rejects. */
export type InvocationResult<Payload = unknown> =
  | { readonly ok: true; readonly payload: Payload }
  | {
      readonly ok: false;
      readonly errorType: string;
      readonly errorMessage: string;
      readonly trace?: readonly string[];
    };

type Failure = Extract<InvocationResult, { readonly ok: false }>;

export const failed = (errorType: string, errorMessage: string): Failure => ({
  ok: false,
  errorType,
  errorMessage,
});

/** A result from the function's code, as JSON. */
export type JsonResult = InvocationResult<string>;

/** A function's code and its configuration. */
export interface Code {
  /** Absolute path of the bundle that a deployment uploads. */
  readonly bundleDirectory: string;
  /** All variables: none is inherited. */
  readonly variables: Readonly<Record<string, string>>;
  readonly memoryMiB: number;
  /** Called with each line on stdout or stderr. */
  readonly onLog: (line: string) => void;
  /** Kills the instance, also while it loads the code. */
  readonly signal?: AbortSignal;
}

export interface Invocation {
  /** JSON. */
  readonly event: string;
  readonly context: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly deadline: number;
}

/** An execution environment with the code loaded. Runs one invocation at a time. */
export interface Instance {
  isAlive(): boolean;
  /** Resolves when it exits, for any reason. */
  readonly ended: Promise<unknown>;
  /** Never rejects. */
  invoke(invocation: Invocation): Promise<JsonResult>;
  /** Kills it. */
  kill(): void;
}

/** Starts an instance. Resolves to a failure if the code cannot be loaded. */
export type Runtime = (code: Code) => Promise<Instance | Failure>;

/** Milliseconds. Lambda allows 10 s for loading the code; more here, for a busy machine. */
const initLimit = 30_000;

/** Starts a process for an instance: it can be killed at any time, and isolates crashes. */
export const startProcess: Runtime = async (code) => {
  const { bundleDirectory, variables, memoryMiB, onLog, signal } = code;
  const child = fork(join(__dirname, 'bootstrap.cjs'), [], {
    cwd: bundleDirectory,
    env: { ...variables },
    execArgv: [`--max-old-space-size=${memoryMiB}`],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', onLog);
  }
  const ended = new Promise<JsonResult>((resolve) => {
    const end = (reason: string) =>
      resolve(failed('Runtime.ExitError', `Error: Runtime exited with error: ${reason}`));
    // An abort ends with its exit.
    child.on('error', ({ name, message }) => name !== 'AbortError' && end(message));
    child.once('exit', (status, signal) => end(signal ? `signal: ${signal}` : `exit status ${status}`));
  });
  const kill = () => void child.kill('SIGKILL');
  const nextResult = () =>
    Promise.race([new Promise<JsonResult>((resolve) => child.once('message', resolve)), ended]);

  const timer = setTimeout(kill, initLimit);
  const loaded = await nextResult();
  clearTimeout(timer);
  if (!loaded.ok) return loaded;
  return {
    isAlive: () => child.connected && !child.killed,
    ended,
    kill,
    invoke(invocation) {
      const result = nextResult();
      child.send(invocation, (error) => error && kill());
      return result;
    },
  };
};
