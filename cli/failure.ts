/** The command could not do what it was asked: exit code 1. The message says what and why, the remedy what to do. */
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

/** The command was asked for something that makes no sense: exit code 2. */
export class UsedWrongly extends CommandFailed {
  override readonly name = 'UsedWrongly';
  override get exitCode() {
    return 2 as const;
  }
}
