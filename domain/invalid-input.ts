/** An error of the table of environments, whose message has the fix. By name: importing the class takes a second. */
export const isInvalidInput = (error: unknown): error is Error =>
  error instanceof Error && /^Invalid(Input|Environment)$/.test(error.name);
