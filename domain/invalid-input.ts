/**
 * Whether an error is a deployer's invalid input, which the table of environments throws while it loads: its message states the fix,
 * and a stack trace would only show the validation. By name: importing the class takes a second.
 */
export const isInvalidInput = (error: unknown): error is Error =>
  error instanceof Error && /^Invalid(Input|Environment)$/.test(error.name);
