import { fork } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A failure, with Lambda's error payload, is a value: `invoke` never rejects. */
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

/** A result as it comes from the function's code: JSON. */
export type JsonResult = InvocationResult<string>;

/** A function's code, and what it runs with. */
export interface Code {
  /** The folder of the same bundle that a deployment uploads; absolute. */
  readonly bundleDirectory: string;
  /** All variables: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  readonly memoryMiB: number;
  /** Gets each line that the function writes to stdout or stderr. */
  readonly onLog: (line: string) => void;
}

export interface Invocation {
  /** JSON. */
  readonly event: string;
  readonly context: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly deadline: number;
}

/** An execution environment with the function's code loaded. It takes one invocation at a time. */
export interface Instance {
  isAlive(): boolean;
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  /** Never rejects. */
  invoke(invocation: Invocation): Promise<JsonResult>;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
}

/** Starts an instance. Resolves to the reason when the code cannot be loaded. */
export type Runtime = (code: Code) => Promise<Instance | Failure>;

/** Milliseconds. Lambda allows 10 s for loading the code; a busy machine gets more. */
const initLimit = 30_000;

/** Starts a process with a function's code: it can be killed at any time, and a crash stays contained. */
export const startProcess: Runtime = async ({ bundleDirectory, environment, memoryMiB, onLog }) => {
  const child = fork(join(__dirname, 'bootstrap.cjs'), [], {
    cwd: bundleDirectory,
    env: { ...environment },
    execArgv: [`--max-old-space-size=${memoryMiB}`],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', onLog);
  }
  const ended = new Promise<JsonResult>((resolve) => {
    const end = (reason: string) =>
      resolve(failed('Runtime.ExitError', `Error: Runtime exited with error: ${reason}`));
    child.once('error', ({ message }) => end(message));
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
    ...{ ended, kill },
    invoke(invocation) {
      const result = nextResult();
      child.send(invocation, (error) => error && kill());
      return result;
    },
  };
};
