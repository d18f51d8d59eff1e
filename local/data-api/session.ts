import type pg from 'pg';

/**
 * Settings that every session begins with, whatever the role's or the database's are: the Data API gives times in UTC
 * (https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api-operations.html), and values are read as text.
 */
export const sessionSettings = '-c TimeZone=UTC -c DateStyle=ISO -c extra_float_digits=1';

/**
 * `DISCARD ALL`, which the service runs before it uses a connection again
 * (https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.session-management.html), in its documented
 * equivalents, without `DISCARD PLANS`: plans are no state that a caller could see, and those of foreign keys would have
 * to be made again for each call. https://www.postgresql.org/docs/17/sql-discard.html
 */
const discardAllButPlans = `
  close all; set session authorization default; reset all; deallocate all; unlisten *;
  select pg_advisory_unlock_all(); discard temp; discard sequences`;

/** Rolls back an open transaction and discards the session's state. @returns whether the connection can be used again */
export async function discardSession(client: pg.ClientBase): Promise<boolean> {
  try {
    if (client.getTransactionStatus() !== 'I') await client.query('rollback');
    await client.query(discardAllButPlans);
    return true;
  } catch {
    return false;
  }
}
