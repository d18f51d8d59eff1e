/** An error that the user can fix: the message explains how, and no stack trace is printed. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
