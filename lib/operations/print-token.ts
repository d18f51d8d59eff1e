import type { CommonOptions } from './options';
import type { Terminal } from './terminal';

/** Prints a token bare, for `$(…)`, or as JSON with the time when it expires. `expiresAt` is in seconds since the epoch. */
export function printToken(
  token: string,
  expiresAt: number,
  { json }: CommonOptions,
  terminal: Terminal,
): void {
  terminal.result(
    json ? JSON.stringify({ token, expiresAt: new Date(expiresAt * 1000).toISOString() }) : token,
  );
}
