/** The message states what failed and why; the remedy is a command where possible. */
export class CommandFailed extends Error {
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
