import { connectDatabase } from '../database/connect';
import { bind } from '../shared/bind';
import { createLog } from '../shared/log';
import { webhookLogCodes } from '../webhooks/log-codes';
import { createExpiring } from './expiring-tables';
import { purgeExpired } from './purge-expired';

export function createDependencies() {
  return {
    expiring: createExpiring(connectDatabase(process.env)),
    log: createLog('purge-expired'),
    now: Date.now,
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/** Milliseconds of deleting; less than the function's timeout by the time that the last statement may take. */
export const timeout = 4 * 60_000;

/**
 * The daily purge. An unavailable database is a failed invocation, which Lambda repeats.
 *
 * @throws Error when the database is not available.
 */
export const createHandler =
  ({ expiring, log, now }: Dependencies) =>
  async (_event: unknown): Promise<void> => {
    const purged = await purgeExpired(expiring, now() + timeout, now);
    if (!purged.ok) throw new Error(`The database is not available: ${purged.error.reason}.`);
    log.info('Expired rows purged', { logCode: webhookLogCodes.expiredPurged, ...purged.value });
  };

export const handler = bind(createHandler, createDependencies);
