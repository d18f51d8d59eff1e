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
  readonly context: { readonly awsRequestId: string } & Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly deadline: number;
}

/** An execution environment of a function, with its code loaded. It takes one invocation at a time. */
export interface Instance {
  /** Absent from one that is no process of its own. */
  readonly pid?: number | undefined;
  readonly alive: boolean;
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Never rejects. The payload is JSON. */
  invoke(invocation: Invocation): Promise<{ readonly ok: true; readonly payload: string } | FailedInvocation>;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
}

/** Starts instances. @throws (resolves to) the reason why the code cannot be loaded */
export type Runtime = (code: Code) => Promise<Instance | FailedInvocation>;
