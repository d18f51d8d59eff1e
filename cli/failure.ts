/** The message gives what failed and why; the remedy is a command where there is one. */
export class CommandFailed extends Error {
  /** 1: it failed; 2: wrong options. */
  readonly exitCode: 1 | 2 = 1;
  constructor(
    message: string,
    readonly remedy?: string,
  ) {
    super(message);
  }
}

export class UsageError extends CommandFailed {
  override readonly exitCode = 2;
}
