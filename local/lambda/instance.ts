/** A failure is a value: `invoke` never rejects. */
export type InvocationResult = { readonly ok: true; readonly payload: unknown } | FailedInvocation;

/** With Lambda's error payload. */
export interface FailedInvocation {
  readonly ok: false;
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

export const failed = (errorType: string, errorMessage: string): FailedInvocation => ({
  ok: false,
  errorType,
  errorMessage,
});

/** A function's code, and what it runs with. */
export interface Code {
  /** The folder of the same bundle that a deployment uploads; absolute. */
  readonly bundleDirectory: string;
  /** File and export, such as `index.handler`. */
  readonly handler: string;
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

/** A result as it comes from the function's code: JSON. */
export type JsonResult = { readonly ok: true; readonly payload: string } | FailedInvocation;

/** An execution environment with the function's code loaded. It takes one invocation at a time. */
export interface Instance {
  /** @default - it is not a process of its own */
  readonly pid?: number | undefined;
  isAlive(): boolean;
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  /** Never rejects. */
  invoke(invocation: Invocation): Promise<JsonResult>;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
}

/** Starts an instance. Resolves to the reason when the code cannot be loaded. */
export type Runtime = (code: Code) => Promise<Instance | FailedInvocation>;
