/** An error that the user can fix: the message explains how, and no stack trace is printed. */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** @param exitCode 1: failed; 2: usage error */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
  }
}
