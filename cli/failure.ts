/** Exit code 1. The message gives what failed and why; the remedy is a command where there is one. */
export class CommandFailed extends Error {
  override readonly name: string = 'CommandFailed';
  constructor(
    message: string,
    readonly remedy?: string,
  ) {
    super(message);
  }

  get exitCode(): 1 | 2 {
    return 1;
  }
}

/** Wrong options: exit code 2. */
export class UsageError extends CommandFailed {
  override readonly name = 'UsageError';
  override get exitCode() {
    return 2 as const;
  }
}
