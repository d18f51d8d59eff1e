import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type FunctionError, failed, type InvocationResult, PAYLOAD_LIMIT } from './result';

export interface InstanceOptions {
  readonly bundleDirectory: string;
  /** The whole environment of the process: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  readonly memoryMiB: number;
  readonly onLog: (line: string) => void;
}

/** One invocation as the instance's process gets it. */
export interface InstanceRequest {
  /** JSON. */
  readonly event: string;
  readonly context: { readonly awsRequestId: string } & Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
}

type FromChild =
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly error: FunctionError }
  | { readonly type: 'result'; readonly payload: string }
  | { readonly type: 'error'; readonly error: FunctionError };

/** Lambda allows 10 s for loading the code; a busy machine gets more before a hang is called a hang. */
const INIT_LIMIT_MS = 30_000;

/** One process of a function. It takes one invocation at a time. */
export class Instance {
  private readonly child: ChildProcess;
  private finishInvocation: ((result: InvocationResult) => void) | undefined;
  private readonly log: (line: string) => void;
  private ended: string | undefined;

  /** Resolves when the code is loaded: to `undefined`, or to the reason why it could not be. */
  readonly ready: Promise<FunctionError | undefined>;
  /** Resolves when the process has ended, for whatever reason. */
  readonly exited: Promise<void>;

  constructor(options: InstanceOptions) {
    this.log = options.onLog;
    this.child = fork(join(__dirname, 'bootstrap.cjs'), [], {
      cwd: options.bundleDirectory,
      env: { ...options.environment },
      execArgv: [`--max-old-space-size=${options.memoryMiB}`],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', this.log);
    }
    this.exited = new Promise((resolve) => {
      const end = (reason: string) => {
        this.ended ??= reason;
        resolve();
      };
      this.child.once('error', (error) => end(error.message));
      this.child.once('exit', (code, signal) => end(signal ? `signal: ${signal}` : `exit status ${code}`));
    });
    this.ready = this.load();
    this.child.on('message', (message) => this.receive(message as FromChild));
    this.exited.then(() => this.finishInvocation?.(failed('Runtime.ExitError', this.exitMessage())));
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get busy(): boolean {
    return this.finishInvocation !== undefined;
  }

  get alive(): boolean {
    return this.ended === undefined;
  }

  /** Runs one invocation; past its timeout the process is killed, as Lambda does. */
  invoke(request: InstanceRequest): Promise<InvocationResult> {
    const { context, event, timeoutSeconds } = request;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const message = `RequestId: ${context.awsRequestId} Error: Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;
        this.kill();
        this.finishInvocation?.({ ...failed('Sandbox.Timedout', message), timedOut: true });
      }, timeoutSeconds * 1_000);
      this.finishInvocation = (result) => {
        clearTimeout(timer);
        this.finishInvocation = undefined;
        if (!this.alive && !result.ok) this.log(result.errorMessage);
        resolve(result);
      };
      if (!this.alive) return this.finishInvocation(failed('Runtime.ExitError', this.exitMessage()));
      this.child.send({ event, context, deadline: Date.now() + timeoutSeconds * 1_000 }, (error) => {
        if (error) this.kill();
      });
    });
  }

  /** Ends the process at once, whatever it is doing. */
  kill(): void {
    this.child.kill('SIGKILL');
    // Counted as gone from now on: the exit itself is seen only later.
    this.ended ??= 'signal: SIGKILL';
  }

  private load(): Promise<FunctionError | undefined> {
    return new Promise((resolve) => {
      const done = (error?: FunctionError) => {
        clearTimeout(timer);
        resolve(error);
      };
      const timer = setTimeout(() => {
        const seconds = INIT_LIMIT_MS / 1_000;
        done({
          errorType: 'Runtime.InitTimeout',
          errorMessage: `The code did not load within ${seconds} seconds`,
        });
        this.kill();
      }, INIT_LIMIT_MS);
      this.child.on('message', (message: FromChild) => {
        if (message.type === 'ready') done();
        if (message.type === 'failed') done(message.error);
      });
      this.exited.then(() => done({ errorType: 'Runtime.ExitError', errorMessage: this.exitMessage() }));
    });
  }

  private receive(message: FromChild): void {
    if (message.type === 'error') this.finishInvocation?.({ ok: false, ...message.error });
    if (message.type === 'result') this.finishInvocation?.(parseResult(message.payload));
  }

  private exitMessage(): string {
    return `Error: Runtime exited with error: ${this.ended}`;
  }
}

function parseResult(payload: string): InvocationResult {
  if (Buffer.byteLength(payload) <= PAYLOAD_LIMIT) return { ok: true, payload: JSON.parse(payload) };
  return failed(
    'Function.ResponseSizeTooLarge',
    `Response payload size exceeded maximum allowed payload size (${PAYLOAD_LIMIT} bytes).`,
  );
}
