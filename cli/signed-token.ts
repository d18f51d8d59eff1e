import type { CommonOptions } from './options';
import type { Terminal } from './terminal';

export interface SignedToken {
  readonly token: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** Prints a token bare, for `$(…)`, or as JSON with the time when it expires. */
export function printToken(
  { token, expiresAt }: SignedToken,
  { json }: CommonOptions,
  terminal: Terminal,
): void {
  terminal.result(
    json ? JSON.stringify({ token, expiresAt: new Date(expiresAt * 1000).toISOString() }) : token,
  );
}
