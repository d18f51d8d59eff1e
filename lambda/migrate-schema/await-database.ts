import { setTimeout as sleep } from 'node:timers/promises';
import { fail, type Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';
import { type Log, logCodes } from '../shared/log';

/**
 * Milliseconds. The function has 14 minutes, of which the last try keeps six; the custom resource has 15.
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html)
 */
export const longestWait = 8 * 60_000;
const longestPause = 10_000;

/**
 * Tries again while the database cannot be reached: for some minutes after its creation an Aurora endpoint has an address
 * and accepts no connection, the Data API does not know the cluster, and IAM has not made every grant known.
 * https://github.com/awslabs/nx-plugin-for-aws/pull/653
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
 *
 * @param attempt must be safe to repeat
 * @returns the first result that is not `database_unavailable`, or the last one when the time has run out
 */
export async function awaitDatabase<T, E extends { readonly kind: string }>(
  attempt: () => Promise<Result<T, E | DatabaseUnavailable>>,
  { log, now = Date.now, pause = sleep }: Waiting,
): Promise<Result<T, E | DatabaseUnavailable>> {
  const started = now();
  for (let tries = 1; ; tries += 1) {
    const result = await attempt().catch(notReadyYet);
    const delay = Math.min(1_000 * 2 ** (tries - 1), longestPause);
    const waited = now() - started;
    if (result.ok || !isUnavailable(result.error) || waited + delay > longestWait) return result;
    const { reason } = result.error;
    log.warn('Database not ready', { logCode: logCodes.databaseNotReady, reason, tries, waitedMs: waited });
    await pause(delay);
  }
}

export interface Waiting {
  readonly log: Log;
  /** Milliseconds. */
  readonly now?: () => number;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

const isUnavailable = (error: { readonly kind: string }): error is DatabaseUnavailable =>
  error.kind === 'database_unavailable';

/** The owner's or a role's secret cannot be read. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
}

/** Errors that pass when everything that a first deployment makes is known everywhere; as the services name them. */
const passing = new Set([
  'AccessDeniedException',
  'DatabaseNotFoundException',
  'ForbiddenException',
  'HttpEndpointNotEnabledException',
  'SecretUnreadable',
]);

/** @throws any error that does not pass by itself */
function notReadyYet(error: Error): Result<never, DatabaseUnavailable> {
  if (!passing.has(error.name)) throw error;
  return fail({
    kind: 'database_unavailable',
    reason: error.name === 'SecretUnreadable' ? error.message : error.name,
  });
}
